/**
 * A receiver of webhooks in its own process. It keeps the received requests when the sender is killed, and answers
 * while the sender is busy. It sends each request to its parent process (`RemoteReceiver`), and answers each path as
 * the parent configures.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Behaviour, FromReceiver, ToReceiver } from './remoteReceiver.ts';
import { startHttp } from './receivers.ts';

const behaviours = new Map<string, Behaviour>();
const requestCounts = new Map<string, number>();

const tell = (message: FromReceiver) => process.send?.(message);

const respond = async (request: IncomingMessage, response: ServerResponse) => {
  const [path = '', id = ''] = [request.url, request.headers['webhook-id'] as string | undefined];
  const at = Date.now();
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
  const behaves = times <= timesEach;
  const answered = behaves ? (hangs ? undefined : status) : 200;
  tell({ came: { path, headers: request.headers, body, at, answered } });
  if (answered !== undefined) response.writeHead(answered, behaves ? headers : {}).end(behaves ? answer : '');
};
const { url } = await startHttp((request, response) => void respond(request, response));

process.on('message', ({ path, behaviour }: ToReceiver) => {
  behaviours.set(path, behaviour);
  tell({ behaves: path });
});
process.on('disconnect', () => process.exit());
tell({ url });
