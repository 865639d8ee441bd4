/**
 * Measures versions of editors by the size of the text: seconds and dollars of a version and of a restore, beside a push
 * of as many bytes.
 */
import * as Y from 'yjs';
import { API_MEMORY_MB } from '../../infra/constructs/memory.ts';
import { byteDollars, lambdaDollars, MILLION, prices, tableDollars } from '../../infra/cost/prices.ts';
import { newCustomer } from '../support/customer.ts';
import { startEngine } from '../support/engine.ts';
import { numbers } from '../support/numbers.ts';
import { times } from '../support/times.ts';
import { printTable, quantile, ratio, type Row, timed } from './report.ts';
import { READS, recordTableCalls, WRITES } from './tableCalls.ts';

const TURNS = 3;
const sizes = [
  ['10 KB', 10_000],
  ['500 KB', 500_000],
  ['4 MB', 4_000_000],
] as const;

const random = numbers(52);
const words = times(2_000, () => times(2 + random(8), () => String.fromCharCode(97 + random(26))).join(''));
function prose(length: number): string {
  const parts: string[] = [];
  for (let written = 0; written < length; written += parts.at(-1)!.length)
    parts.push(`${words[random(words.length)]!} `);
  return parts.join('').slice(0, length);
}

const engine = await startEngine();
const { client, calls, units } = recordTableCalls();

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
    calls.length = 0;
    const milliseconds = await timed(call);
    if (n > 0) all.push({ milliseconds, read: units(READS), written: units(WRITES) });
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
client.destroy();
await engine.stop();
