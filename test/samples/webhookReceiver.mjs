import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const handled = new Set(); // In production: a table that all processes share, with the ids of the last two days.

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let payload;
  try {
    payload = webhook.verify(Buffer.concat(chunks), request.headers);
  } catch {
    response.writeHead(400).end();
    return;
  }
  if (!handled.has(payload.webhookId)) {
    handled.add(payload.webhookId);
    console.log(payload.event, payload.data.targetComment?.commentText);
  }
  response.writeHead(204).end();
});
const port = Number(process.env.PORT ?? 4000);
server.listen(port, '127.0.0.1', () => console.log(`Waiting on http://127.0.0.1:${port}`));
