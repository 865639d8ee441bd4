/**
 * A webhook receiver in its own process. It can answer while the sender is busy, and it keeps all requests when the
 * sender is killed. It reports each request to its parent process (`RemoteReceiver`), which also sets the answers of
 * each path.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startHttp } from './receivers.ts';
import type { Behaviour, FromReceiver, ToReceiver } from './remoteReceiver.ts';

const behaviours = new Map<string, Behaviour>();
const requestCounts = new Map<string, number>();

const sendToParent = (message: FromReceiver) => process.send?.(message);

const respond = async (request: IncomingMessage, response: ServerResponse) => {
  const [path = '', id = ''] = [request.url, request.headers['webhook-id'] as string | undefined];
  const receivedAt = Date.now();
  const body = await text(request);
  const {
    status = 200,
    headers = {},
    body: answer = '',
    hangs = false,
    timesEach = Infinity,
  } = behaviours.get(path) ?? {};
  const times = (requestCounts.get(`${path} ${id}`) ?? 0) + 1;
  requestCounts.set(`${path} ${id}`, times);
  const isConfigured = times <= timesEach;
  const configuredStatus = hangs ? undefined : status;
  const answeredStatus = isConfigured ? configuredStatus : 200;
  sendToParent({ received: { path, headers: request.headers, body, at: receivedAt, answeredStatus } });
  if (answeredStatus !== undefined)
    response.writeHead(answeredStatus, isConfigured ? headers : {}).end(isConfigured ? answer : '');
};
const { url } = await startHttp((request, response) => void respond(request, response));

process.on('message', ({ path, behaviour }: ToReceiver) => {
  behaviours.set(path, behaviour);
  sendToParent({ configured: path });
});
process.on('disconnect', () => process.exit());
sendToParent({ url });
