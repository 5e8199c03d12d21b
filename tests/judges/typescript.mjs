// Drives a server through the TypeScript SDK: `node typescript.mjs sdk|client|stateless SERVER`. Prints a report in
// JSON; what is expected of it stands in reports.py. `sdk` is the first generation of the SDK, `client` the second,
// and `stateless` the second without a handshake.
const [generation, server] = process.argv.slice(2);
const second = generation !== "sdk";
const stateless = generation === "stateless";
const { Client } = await import(second ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await import(
  second ? "@modelcontextprotocol/client/stdio" : "@modelcontextprotocol/sdk/client/stdio.js"
);
const schemas = second ? undefined : await import("@modelcontextprotocol/sdk/types.js");

const report = { asked: [], events: [], progress: [], updated: 0 };
let running = () => {};
const era = stateless ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new Client({ name: "judge", version: "1" }, { capabilities: { elicitation: {} }, ...era });
client.fallbackNotificationHandler = async ({ method, params }) => {
  if (method === "codex/event") {
    report.events.push(params.msg.type);
    if (params.msg.type === "exec_command_begin") running();
  } else if (method === "notifications/resources/updated") {
    report.updated += 1;
  }
};
client.setRequestHandler(second ? "elicitation/create" : schemas.ElicitRequestSchema, async ({ params }) => {
  report.asked.push(params.message);
  return { action: "accept", content: {} };
});

const call = (name, args, options) => {
  const wanted = { name, arguments: args };
  return second ? client.callTool(wanted, options) : client.callTool(wanted, undefined, options);
};
const caught = async (promise) => {
  try {
    return { answer: await promise };
  } catch (error) {
    return { code: error.code ?? error.name, message: error.message };
  }
};

await client.connect(new StdioClientTransport({ command: server }));
report.server = client.getServerVersion();
report.capabilities = client.getServerCapabilities();
report.tools = (await client.listTools()).tools.map((tool) => tool.name);
report.revision = client.getNegotiatedProtocolVersion?.();
if (!stateless) await client.ping();

const ofTheSdk = "Fulfilling input required"; // between rounds, counted by itself
const told = (progress) => progress.message?.startsWith(ofTheSdk) || report.progress.push(progress);
const says = 'call shell ["sh","-c","sleep 0.6; touch judged"]; then; say done';
const asks = { prompt: says, "approval-policy": "untrusted", sandbox: "danger-full-access" }; // in another, a yes means inside
report.first = await call("codex", asks, { onprogress: told });
const thread = report.first.structuredContent?.threadId;
const uri = `greenroom://conversation/${thread}`;
const listening = stateless ? await client.listen({ resourceSubscriptions: [uri] }) : await client.subscribeResource({ uri });
report.reply = await call("codex-reply", { threadId: thread, prompt: "say again" });

const begun = new Promise((resolve) => (running = resolve));
const leave = new AbortController();
const sleeps = { prompt: 'call shell ["sleep","60"]', "approval-policy": "never", sandbox: "danger-full-access" };
const begins = ({ message }) => message?.includes("sleep") && running();
const cancelled = caught(call("codex", sleeps, { signal: leave.signal, onprogress: begins }));
await begun;
leave.abort("enough");
report.cancelled = await cancelled;
report.after = await call("codex-reply", { threadId: thread, prompt: "say still here" });

if (!stateless) await client.setLoggingLevel("debug");
report.resources = (await client.listResources()).resources.map((resource) => resource.uri);
report.templates = (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate);
report.read = (await client.readResource({ uri })).contents;
if (stateless) await listening.close();
else await client.unsubscribeResource({ uri });
report.uri = uri;
const template = { type: "ref/resource", uri: report.templates[0] };
report.completed = (await client.complete({ ref: template, argument: { name: "id", value: thread.slice(0, 4) } })).completion;
report.listed = (await call("list_conversations", {})).structuredContent;
report.unknown = await caught(call("no_such_tool", {}));
report.prompts = await caught(client.listPrompts());
await client.close();
console.log(JSON.stringify(report));
process.exit(0);
