/**
 * Measures versions of editors by the size of the text: seconds and dollars of a version and of a restore, beside a push
 * of as many bytes, and how many restored values are exact.
 */
import * as Y from 'yjs';
import { API_MEMORY_MB } from '../../infra/constructs/memory.ts';
import { byteDollars, lambdaDollars, MILLION, prices, tableDollars } from '../../infra/cost/prices.ts';
import { environment } from '../../lib/app/capability.ts';
import { contentReader, isPresent } from '../../lib/editors/rules/yjs/typeContent.ts';
import { openTable } from '../../lib/table/table.ts';
import { type Customer, newCustomer } from '../support/customer.ts';
import { startEngine } from '../support/engine.ts';
import { numbers } from '../support/numbers.ts';
import { times } from '../support/times.ts';
import { printTable, quantile, ratio, type Row, timed } from './report.ts';

const TURNS = 3;
const sizes = [
  ['10 KB', 10_000],
  ['500 KB', 500_000],
  ['4 MB', 4_000_000],
] as const;
const ROUNDS = 25;

const random = numbers(52);
const words = times(2_000, () => times(2 + random(8), () => String.fromCharCode(97 + random(26))).join(''));
function prose(length: number): string {
  const parts: string[] = [];
  for (let written = 0; written < length; written += parts.at(-1)!.length)
    parts.push(`${words[random(words.length)]!} `);
  return parts.join('').slice(0, length);
}

const engine = await startEngine();
const { client } = openTable(environment(process.env)).connection;
let units = { read: 0, written: 0 };
const plainly = client.send.bind(client) as (command: object) => Promise<any>;
Object.assign(client, {
  async send(command: { input: object }) {
    Object.assign(command.input, { ReturnConsumedCapacity: 'INDEXES' });
    const answer = await plainly(command);
    const side = /^(Get|BatchGet|Query)/.test(command.constructor.name) ? 'read' : 'written';
    for (const { CapacityUnits = 0 } of [answer.ConsumedCapacity ?? []].flat()) units[side] += Number(CapacityUnits);
    return answer;
  },
});

interface Measured {
  readonly milliseconds: number;
  readonly read: number;
  readonly written: number;
}

/** Runs `turn` several times, of which the first does not count. Returns medians. */
async function measure(turn: (n: number) => Promise<() => Promise<unknown>>): Promise<Measured> {
  const all: Measured[] = [];
  for (let n = 0; n <= TURNS; n++) {
    const call = await turn(n);
    units = { read: 0, written: 0 };
    const milliseconds = await timed(call);
    if (n > 0) all.push({ milliseconds, ...units });
  }
  const median = (name: keyof Measured) =>
    quantile(
      all.map((one) => one[name]),
      0.5,
    );
  return { milliseconds: median('milliseconds'), read: median('read'), written: median('written') };
}

/** Of a call, with the time that was measured here. */
function dollarsOf({ milliseconds, read, written }: Measured, bytes = 0): number {
  const requests = Math.max(1, Math.ceil(bytes / (512 * 1024)));
  return (
    tableDollars({ read, written }) +
    lambdaDollars(1, milliseconds, API_MEMORY_MB) +
    (requests * prices.httpRequests) / MILLION
  );
}

const customer = await newCustomer();
const nda = { organizationId: 'acme', documentId: 'nda' };
await customer.ok('/v2/organizations/documents/add', {
  organizationId: 'acme',
  createOrganization: true,
  documents: [{ documentId: 'nda' }],
});

const base64 = (update: Uint8Array) => Buffer.from(update).toString('base64');
const push = (to: string, update: Uint8Array) =>
  customer.ok('/v2/crdt/updates/push', { ...nda, editorId: to, update: base64(update) });
const stateOf = async (editorId: string): Promise<Uint8Array> =>
  Buffer.from((await customer.ok('/v2/crdt/updates/get', { ...nda, editorId })).update as string, 'base64');

function insertion(doc: Y.Doc, at: number, text: string): Uint8Array {
  const before = Y.encodeStateVector(doc);
  doc.getText('content').insert(at, text);
  return Y.encodeStateAsUpdate(doc, before);
}

const [versionRows, restoreRows]: [Row[], Row[]] = [[], []];
for (const [label, size] of sizes) {
  const text = prose(size);
  const half = text.slice(0, size / 2);
  const added = (name: string, data: string) =>
    customer.ok('/v2/crdt/add', { ...nda, editorId: name, type: 'text', data });
  const keep = async (editorId: string): Promise<string> =>
    (await customer.ok('/v2/crdt/versions/add', { ...nda, editorId })).versionId as string;

  const version = await measure(async (n) => {
    await added(`v${size}-${n}`, text);
    return () => keep(`v${size}-${n}`);
  });
  const pushed = await measure(async (n) => {
    await added(`p${size}-${n}`, '');
    const update = insertion(new Y.Doc(), 0, text);
    return () => push(`p${size}-${n}`, update);
  });
  const { versions } = await customer.ok('/v2/crdt/versions/get', { ...nda, editorId: `v${size}-1` });
  const stored = (versions as { bytes: number }[])[0]!.bytes;
  versionRows.push([
    label,
    stored,
    ...cellsOf(version, pushed, size),
    byteDollars(stored * MILLION, prices.tableGigabyte + prices.backupGigabyte).toFixed(2),
  ]);

  // Half of the text is deleted and comes back.
  const restored = await measure(async (n) => {
    const editorId = `v${size}-${n}`;
    const versionId = await keep(editorId);
    await customer.ok('/v2/crdt/update', { ...nda, editorId, type: 'text', data: half });
    return () => customer.ok('/v2/crdt/versions/restore', { ...nda, editorId, versionId });
  });
  const pushedHalf = await measure(async (n) => {
    const editorId = `h${size}-${n}`;
    await added(editorId, half);
    const doc = new Y.Doc();
    Y.applyUpdate(doc, await stateOf(editorId));
    const update = insertion(doc, half.length, text.slice(half.length));
    return () => push(editorId, update);
  });
  restoreRows.push([label, ...cellsOf(restored, pushedHalf, size / 2)]);
}

function cellsOf(ours: Measured, bound: Measured, bytes: number): Row {
  const [dollars, least] = [MILLION * dollarsOf(ours), MILLION * dollarsOf(bound, (bytes * 4) / 3)];
  return [
    (ours.milliseconds / 1000).toFixed(3),
    (bound.milliseconds / 1000).toFixed(3),
    ratio(ours.milliseconds, bound.milliseconds),
    ours.read,
    ours.written,
    dollars.toFixed(2),
    least.toFixed(2),
    ratio(dollars, least),
  ];
}

const columns = ['s', 'push s', 'ratio', 'reads', 'writes', '$ per million', 'push $', 'ratio'];
printTable(
  'A version of a text, beside a push of the whole text: seconds with the local engine; dollars of table, function and gateway; dollars of a million stored versions in a month',
  ['text', 'stored bytes', ...columns, 'stored $'],
  versionRows,
);
printTable(
  'A restore of which half of the text comes back, beside a push of this half; the restore also keeps a version of the state before',
  ['text', ...columns],
  restoreRows,
);
printTable(
  'Restored values whose deep content is that of the version, after random changes by two clients; goal: 100 %',
  ['type', 'restores', 'exact'],
  await Promise.all((['text', 'array', 'map', 'xml'] as const).map((type) => exactness(customer, type))),
);
client.destroy();
await engine.stop();

async function exactness(of: Customer, type: 'text' | 'array' | 'map' | 'xml'): Promise<Row> {
  const editor = { ...nda, editorId: `exact-${type}` };
  const empty = { text: '', array: [], map: {}, xml: '' }[type];
  await of.ok('/v2/crdt/add', { ...editor, type, data: empty });
  const readDoc = (update: Uint8Array): Y.Doc => {
    const doc = new Y.Doc();
    rootOf(doc, type);
    Y.applyUpdate(doc, update);
    return doc;
  };
  const content = (doc: Y.Doc) => JSON.stringify(contentReader(isPresent)(rootOf(doc, type) as never));
  const versionIds: string[] = [];
  let exact = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const state = await stateOf(editor.editorId);
    for (const doc of [readDoc(state), readDoc(state)]) {
      const before = Y.encodeStateVector(doc);
      doc.transact(() => times(1 + random(6), () => changeAtRandom(doc, type)));
      await push(editor.editorId, Y.encodeStateAsUpdate(doc, before));
    }
    const { versionId } = (await of.ok('/v2/crdt/versions/add', editor)) as { versionId: string };
    versionIds.push(versionId);
    const restoredId = versionIds[random(versionIds.length)]!;
    await of.ok('/v2/crdt/versions/restore', { ...editor, versionId: restoredId });
    const request = { ...editor, versionId: restoredId, includeState: true };
    const { state: wanted } = (await of.ok('/v2/crdt/versions/get', request)) as { state: string };
    const now = readDoc(await stateOf(editor.editorId));
    if (content(now) === content(readDoc(Buffer.from(wanted, 'base64')))) exact++;
  }
  return [type, ROUNDS, `${((exact / ROUNDS) * 100).toFixed(0)} %`];
}

function rootOf(doc: Y.Doc, type: 'text' | 'array' | 'map' | 'xml'): Y.AbstractType<any> {
  if (type === 'text') return doc.getText('content');
  if (type === 'array') return doc.getArray('content');
  return type === 'map' ? doc.getMap('content') : doc.getXmlFragment('content');
}

function changeAtRandom(doc: Y.Doc, type: 'text' | 'array' | 'map' | 'xml'): void {
  const root = rootOf(doc, type);
  if (root instanceof Y.Map) {
    const key = `key${random(5)}`;
    if (random(4) === 0) root.delete(key);
    else root.set(key, random(2) ? random(100) : new Y.Array());
    return;
  }
  const list = root as unknown as Pick<Y.Array<unknown>, 'length' | 'delete' | 'insert'>;
  const at = random(list.length + 1);
  const count = Math.min(random(4), list.length - at);
  if (count > 0 && random(3) === 0) list.delete(at, count);
  else if (root instanceof Y.Text && count > 0 && random(3) === 0)
    root.format(at, count, { bold: random(2) ? true : null });
  else if (root instanceof Y.Text) root.insert(at, prose(5));
  else if (root instanceof Y.XmlFragment) root.insert(at, [paragraph()]);
  else list.insert(at, [random(2) ? random(100) : new Y.Map([['a', random(9)]])]);
}

function paragraph(): Y.XmlElement {
  const element = new Y.XmlElement('paragraph');
  element.setAttribute('level', String(random(4)));
  element.insert(0, [new Y.XmlText(prose(6))]);
  return element;
}
