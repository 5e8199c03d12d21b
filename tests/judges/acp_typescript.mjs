// Drives an ACP agent through the TypeScript SDK: `node acp_typescript.mjs PLAN`. Prints a report in JSON; what the plan
// has and what is expected of the report stands in acp_reports.py.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { Readable, Writable } from "node:stream";

const plan = JSON.parse(process.argv[2]);
const acp = await import("@agentclientprotocol/sdk");
const { agent: ask, client: asked } = acp.methods;

// What an agent has told, and a wait for what it will tell.
class Told {
  updates = [];
  permits = "allow_once";
  questions = 0;
  #waiting = [];

  add(params) {
    this.updates.push(params);
    this.#waiting = this.#waiting.filter((check) => !check());
  }

  until(session, wanted, after) {
    return new Promise((resolve) => {
      const check = () => {
        const found = this.of(session, after).find(wanted);
        if (found) resolve(found);
        return Boolean(found);
      };
      if (!check()) this.#waiting.push(check);
    });
  }

  of(session, after = 0) {
    return this.updates.slice(after).filter((one) => one.sessionId === session).map((one) => one.update);
  }

  text(session, after, kind = "agent_message") {
    return this.of(session, after).map((one) => words(one, kind)).join("");
  }

  answer({ options }) {
    this.questions += 1;
    const chosen = options.find((one) => one.kind === this.permits);
    return { outcome: chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" } };
  }
}

const words = (update, kind) => (update.sessionUpdate === `${kind}_chunk` ? update.content.text ?? "" : "");

const connected = async (op) => {
  const told = new Told();
  const child = spawn(plan.server, [], { stdio: ["pipe", "pipe", "inherit"] });
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const app = acp
    .client({ name: "judge" })
    .onRequest(asked.session.requestPermission, ({ params }) => told.answer(params))
    .onNotification(asked.session.update, ({ params }) => told.add(params));
  const clientInfo = { name: "judge", version: "1" };
  const hello = { protocolVersion: 1, clientInfo, clientCapabilities: {} };
  const value = await app.connectWith(stream, async (context) => {
    const initialized = await context.request(ask.initialize, hello);
    return op(context, told, initialized);
  });
  child.stdin.end();
  await new Promise((resolve) => (child.exitCode === null ? child.once("exit", resolve) : resolve()));
  return value;
};

// A prompt to its end.
const prompted = async (context, told, session, text) => {
  const after = told.updates.length;
  const answer = await context.request(ask.session.prompt, { sessionId: session, prompt: [{ type: "text", text }] });
  return { stop: answer.stopReason, text: told.text(session, after) };
};

const running = () =>
  readdirSync("/proc").filter((pid) => {
    try {
      const here = readlinkSync(`/proc/${pid}/cwd`).startsWith(plan.work);
      return here && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep\0");
    } catch {
      return false;
    }
  }).length;

const begun = async () => {
  while (!running()) await new Promise((resolve) => setTimeout(resolve, 20));
};

const made = { cwd: plan.work, mcpServers: [] };
const report = await connected(async (context, told, initialized) => {
  const found = { initialized };
  found.listedBefore = (await context.request(ask.session.list, { cwd: plan.work })).sessions.length;
  const { sessionId: one } = await context.request(ask.session.new, made);
  found.first = await prompted(context, told, one, plan.prompts.first);

  found.accepted = await prompted(context, told, one, plan.prompts.accept);
  found.accepted.questions = told.questions;
  told.permits = "reject_once";
  found.refused = await prompted(context, told, one, plan.prompts.refuse);
  found.refused.questions = told.questions;

  told.permits = "allow_once";
  const stubborn = prompted(context, told, one, plan.prompts.stubborn);
  await begun();
  await context.notify(ask.session.cancel, { sessionId: one });
  found.cancelled = { ...(await stubborn), left: running() };

  const { sessionId: other } = await context.request(ask.session.new, made);
  found.second = await prompted(context, told, other, plan.prompts.second);
  found.sessions = [one, other];
  found.listed = (await context.request(ask.session.list, { cwd: plan.work })).sessions.map((row) => row.sessionId);

  const mark = told.updates.length;
  const lost = prompted(context, told, one, plan.prompts.stream);
  await told.until(one, (update) => words(update, "agent_message"), mark);
  process.kill(Number(readFileSync(plan.daemon, "utf8")), "SIGKILL");
  found.killed = await lost;
  found.back = await prompted(context, told, one, plan.prompts.back);
  return found;
});

const again = { ...made, sessionId: report.sessions[1] };
await connected(async (context, told) => {
  await context.request(ask.session.load, again);
  await told.until(again.sessionId, (one) => words(one, "agent_message"), 0); // the SDK may hand the answer over first
  report.loaded = told.of(again.sessionId).flatMap((one) =>
    ["user_message", "agent_message"].map((kind) => [kind, words(one, kind)]).filter(([, text]) => text),
  );
});
await connected(async (context, told) => {
  await context.request(ask.session.resume, again);
  report.resumed = told.text(again.sessionId, 0) + told.text(again.sessionId, 0, "user_message");
  report.after = await prompted(context, told, again.sessionId, plan.prompts.first);
});
console.log(JSON.stringify(report));
process.exit(0);
