"""The citation style for libraries without installed ones: author and year, written for this application."""

from __future__ import annotations

from typing import Final

TITLE: Final = "Author-date (built in)"
CSL: Final = """<?xml version="1.0" encoding="utf-8"?>
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0" default-locale="en-US">
  <info><title>Author-date (built in)</title><id>bibgenie-author-date</id>
    <updated>2026-01-01T00:00:00+00:00</updated></info>
  <macro name="short"><names variable="author"><name form="short" and="symbol" delimiter=", "/>
    <et-al/><substitute><names variable="editor"/><text variable="title" form="short"/></substitute>
  </names></macro>
  <macro name="long"><names variable="author"><name and="text" initialize-with=". " name-as-sort-order="all"
    delimiter=", "/><substitute><names variable="editor"/><text variable="title"/></substitute>
  </names></macro>
  <macro name="year"><choose>
    <if variable="issued"><date variable="issued"><date-part name="year"/></date></if>
    <else><text term="no date" form="short"/></else></choose></macro>
  <citation et-al-min="3" et-al-use-first="1"><layout prefix="(" suffix=")" delimiter="; ">
    <text macro="short"/><text macro="year" prefix=" "/>
    <group prefix=", " delimiter=" ">
      <label variable="locator" form="short"/><text variable="locator"/></group>
  </layout></citation>
  <bibliography et-al-min="21" et-al-use-first="19"><sort><key macro="long"/><key macro="year"/></sort>
    <layout suffix=".">
      <text macro="long"/><text macro="year" prefix=" (" suffix=")."/>
      <text variable="title" prefix=" " suffix="."/>
      <group prefix=" " delimiter=", "><text variable="container-title" font-style="italic"/>
        <group><text variable="volume"/><text variable="issue" prefix="(" suffix=")"/></group>
        <text variable="page"/><text variable="publisher"/></group>
      <text variable="DOI" prefix=". https://doi.org/"/>
    </layout></bibliography>
</style>
"""
