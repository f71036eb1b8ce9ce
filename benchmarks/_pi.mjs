// Times pi's own functions on one stored session: once cold, then again and again in the same process.
// usage: node _pi.mjs <folder of @earendil-works/pi-coding-agent> <session.jsonl> <seconds for the repetitions>
// Prints one JSON object: milliseconds of each step for the first run, and lists of them for the repetitions.
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [pi, file, seconds] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(pi, "dist/core", name)).href);
const compaction = await load("compaction/compaction.js");
const utils = await load("compaction/utils.js");
const sessions = await load("session-manager.js");
const messages = await load("messages.js");
const settings = compaction.DEFAULT_COMPACTION_SETTINGS;

function decide(manager, took) {
  const begin = performance.now();
  const context = manager.buildSessionContext();
  const size = compaction.estimateContextTokens(context.messages);
  took.plan = performance.now() - begin;
  compaction.shouldCompact(size.tokens, 200000, settings);
  const prepared = compaction.prepareCompaction(manager.getBranch(), settings);
  took.decide = performance.now() - begin - took.plan;
  const { user, system } = process.cpuUsage(took.used);
  took.cpu = (user + system) / 1000;
  const span = utils.serializeConversation(messages.convertToLlm(prepared.messagesToSummarize));
  took.prepare = performance.now() - begin - took.plan - took.decide;
  took.span = span.length;
  delete took.used;
}

function open() {
  const took = {};
  took.used = process.cpuUsage();
  const begin = performance.now();
  const manager = sessions.SessionManager.open(file, dirname(file));
  took.open = performance.now() - begin;
  decide(manager, took);
  return [took, manager];
}

const [first, manager] = open();
const reopened = [], held = [];
const end = performance.now() + 1000 * Number(seconds);
while (performance.now() < end && reopened.length < 30) {
  reopened.push(open()[0]);
  const took = { open: 0, used: process.cpuUsage() };
  decide(manager, took);
  held.push(took);
}
console.log(JSON.stringify({ first, reopened, held, memory: Math.round(process.memoryUsage().rss / 1e6) }));
