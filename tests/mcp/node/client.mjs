// Drives every tool with a TypeScript client and prints what it saw as one line of JSON.
// Arguments: the server's command, its folder, and "sdk" (1.x), "legacy" or "modern" (2.x).
const [command, cwd, kind] = process.argv.slice(1);
const v1 = kind === "sdk";
const { Client } = await import(v1 ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await import(
  v1 ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio"
);
const complaints = [];
const transport = new StdioClientTransport({ command, cwd, env: process.env, stderr: "inherit" });
const mode = kind === "modern" ? { pin: "2026-07-28" } : "legacy";
const client = new Client({ name: "tests", version: "0" }, v1 ? {} : { versionNegotiation: { mode } });
client.onerror = (error) => complaints.push(String(error));
await client.connect(transport);

const tools = (await client.listTools()).tools.map((tool) => tool.name);
const ask = (name, args) => client.callTool({ name, arguments: args });
const saved = await ask("memory_save", { title: "設計 ✓", body: "decided", tags: ["auth"] });
const id = saved.structuredContent.memory.id;
const found = await ask("memory_search", { query: "decided" });
const read = await ask("memory_read", { id });
const doctor = await ask("memory_doctor", {});
const refused = await ask("memory_read", { id: "mem_not_there" });
const wrong = await ask("memory_search", { limit: "5" }).catch(({ code, message }) => ({ code, message }));
const instructions = client.getInstructions();
await client.close();
console.log(JSON.stringify({ tools, saved, found, read, doctor, refused, wrong, instructions, complaints }));
