/**
 * A client of a collaborative editor in its own process, which `RemoteEditor` starts. It has a Yjs document and calls
 * only `updates/get` and `updates/push`. After each word that it types and sends, it pulls the changes of the other
 * clients.
 */
import * as Y from 'yjs';
import type { EditorOrder, EditorReport } from './remoteEditor.ts';

const doc = new Y.Doc();
const content = doc.getText('content');
let version: number | undefined;

async function call({ baseUrl, headers, editor }: EditorOrder, path: string, data: object): Promise<any> {
  const response = await fetch(`${baseUrl}/v2/crdt/updates/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ data: { ...editor, ...data } }),
  });
  const body: any = await response.json();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(body)}`);
  return body.result.data;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

async function pull(order: EditorOrder): Promise<void> {
  const answer = await call(
    order,
    'get',
    order.byVersion ? { version } : { stateVector: base64(Y.encodeStateVector(doc)) },
  );
  Y.applyUpdate(doc, Buffer.from(answer.update, 'base64'));
  ({ version } = answer);
}

async function run(order: EditorOrder): Promise<void> {
  await pull(order);
  for (const word of order.words) {
    const before = Y.encodeStateVector(doc);
    content.insert(content.length, `${word} `);
    await call(order, 'push', {
      update: base64(Y.encodeStateAsUpdate(doc, before)),
      userId: 'ada',
      sessionId: 'tab-1',
    });
    await pull(order);
  }
  process.send?.({ text: content.toJSON() } satisfies EditorReport);
}

process.on('message', (order: EditorOrder) => void run(order));
process.on('disconnect', () => process.exit());
