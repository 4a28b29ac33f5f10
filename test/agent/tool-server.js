/**
 * A tool server for tests: `count` counts the letters of a text, `whoami` tells the variable WHO, `fail` fails.
 * Speaks the protocol on pipes, or over HTTP on a free port that it prints, where it asks for a header.
 * Plain JavaScript, because agents start it as a program of its own.
 */
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

function makeServer() {
  const server = new McpServer({ name: 'test-tools', version: '1.0.0' });
  const text = (said) => ({ content: [{ type: 'text', text: said }] });
  server.registerTool(
    'count',
    { description: 'Counts the letters of a text.', inputSchema: { text: z.string() } },
    ({ text: given }) => text(`${given.length} letters`),
  );
  server.registerTool('whoami', { description: 'Tells who calls.' }, () => text(process.env.WHO ?? 'nobody'));
  server.registerTool('fail', { description: 'Fails.' }, () => ({ ...text('it broke'), isError: true }));
  return server;
}

async function serveHttp(wanted) {
  const http = createServer(async (request, response) => {
    if (request.headers.authorization !== wanted) return void response.writeHead(401).end();
    const server = makeServer();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await server.connect(transport);
    await transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`));
}

if (process.argv[2] === '--http') await serveHttp(process.argv[3]);
else await makeServer().connect(new StdioServerTransport());
