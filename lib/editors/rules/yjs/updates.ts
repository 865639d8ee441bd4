import { createDecoder, hasContent } from 'lib0/decoding';
import * as Y from 'yjs';
import { copyOf, MalformedUpdate } from './document.ts';
import { withBoundedConflicts } from './integration.ts';
import { structureOf, type UpdateStructure } from './updateStructure.ts';
import { crdtLimits } from './values.ts';
import { isWriter } from './writers.ts';
import { spellingKey } from './xml.ts';

/** Documents with fewer structs cannot have too many conflicts: n structs have at most n * n / 2. */
const FEW_STRUCTS = Math.sqrt(2 * crdtLimits.conflictSteps);

/** An update as Yjs reads it, before it is applied. */
export type DecodedUpdate = ReturnType<typeof Y.decodeUpdate>;

/** An update of a client, read but not applied. MalformedUpdate when the bytes are none, or a fault when it has what no document may have. */
export function decodeBounded(update: Uint8Array): DecodedUpdate | string {
  const structure = wellFormed(() => structureOf(update));
  return faultOfStructure(structure) ?? wellFormed(() => Y.decodeUpdate(update));
}

function faultOfStructure({ clients, structs, parts, hasSubdocuments }: UpdateStructure): string | undefined {
  if (hasSubdocuments) return 'Update must not have subdocuments.';
  if (clients > crdtLimits.clients) return tooManyClients;
  if (structs > crdtLimits.structs) return tooManyStructs;
  return parts > crdtLimits.parts
    ? `Update must not have more than ${crdtLimits.parts} objects, arrays and keys in all.`
    : undefined;
}

const tooManyClients = `The document must not have changes of more than ${crdtLimits.clients} clients of Yjs.`;
const tooManyStructs = `The document must not have more than ${crdtLimits.structs} structs of Yjs.`;

/** What an update adds to a document, by its structs: other root types than the content, or more than a document may have. */
export function faultOfAddition(doc: Y.Doc, contentKey: string, { structs, ds }: DecodedUpdate): string | undefined {
  const added = structs.filter(
    (struct) =>
      !(struct instanceof Y.Skip) && struct.id.clock + struct.length > Y.getState(doc.store, struct.id.client),
  );
  const newClients = new Set(added.flatMap(({ id }) => (doc.store.clients.has(id.client) ? [] : id.client)));
  if (doc.store.clients.size + newClients.size > crdtLimits.clients) return tooManyClients;
  if (structsIn(doc) + added.length + rangesIn(ds) > crdtLimits.structs) return tooManyStructs;
  const root = added.map((struct) => rootNameOf(struct)).find((name) => name !== undefined && name !== contentKey);
  return root === undefined
    ? undefined
    : `Update must change only what is under ${JSON.stringify(contentKey)}, and not ${shown(root)}.`;
}

function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100).toWellFormed()}...` : name);
}

/** The name of the root type that a struct says it is in. Only the service writes how XML was spelled, under a root of its own. */
function rootNameOf(struct: DecodedUpdate['structs'][number]): string | undefined {
  const name = struct instanceof Y.Item ? (struct.parent as unknown) : undefined;
  return typeof name === 'string' && !(isWriter(struct.id.client) && name.startsWith(spellingKey('')))
    ? name
    : undefined;
}

function rangesIn({ clients }: DecodedUpdate['ds']): number {
  return [...clients.values()].reduce((sum, ranges) => sum + ranges.length, 0);
}

function structsIn(doc: Y.Doc): number {
  return [...doc.store.clients.values()].reduce((sum, structs) => sum + structs.length, 0);
}

/**
 * A copy of the document with a client's update in it. MalformedUpdate when the update is none, or has something behind its end; TooManyConflicts
 * when the document with the update could only be opened slowly. The copy is made from a snapshot, so that conflicts of earlier updates count.
 */
export function copyWith(doc: Y.Doc, update: Uint8Array, { structs }: DecodedUpdate): Y.Doc {
  return structsIn(doc) + structs.length < FEW_STRUCTS
    ? applied(doc, update)
    : withBoundedConflicts(() => applied(doc, update));
}

function applied(doc: Y.Doc, update: Uint8Array): Y.Doc {
  const changed = copyOf(doc);
  return wellFormed(() => {
    const decoder = createDecoder(update);
    Y.readUpdate(decoder, changed);
    if (hasContent(decoder)) throw new MalformedUpdate('Update must be a Yjs update (format 1), and end with it.');
    return changed;
  });
}

/** What reads bytes of a client; MalformedUpdate instead of anything that Yjs or its decoder throws. */
function wellFormed<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof MalformedUpdate) throw cause;
    throw new MalformedUpdate('Update must be a Yjs update (format 1).', { cause });
  }
}

/** Whether more of a document waits for updates that are missing than may wait. */
export function isWaitingForTooMuch({ store }: Y.Doc): boolean {
  return (store.pendingStructs?.update.length ?? 0) + (store.pendingDs?.length ?? 0) > crdtLimits.waitingBytes;
}

/**
 * Whether an update has changes of the service, or deletes some, that the document does not have: what the service writes next would
 * meet them under the same ids.
 */
export function hasForeignWriting(doc: Y.Doc, { structs, ds }: DecodedUpdate): boolean {
  const isForeign = (client: number, end: number) => isWriter(client) && end > Y.getState(doc.store, client);
  return (
    structs.some(
      (struct) => !(struct instanceof Y.Skip) && isForeign(struct.id.client, struct.id.clock + struct.length),
    ) ||
    [...ds.clients].some(([client, deletions]) => deletions.some(({ clock, len }) => isForeign(client, clock + len)))
  );
}

/** Whether types lie too deep in each other, wherever in the document: Yjs goes through them by recursion. */
export function isTooDeep(doc: Y.Doc): boolean {
  const depths = new Map<Y.Item, number>();
  for (const structs of doc.store.clients.values()) {
    for (const struct of structs) {
      if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) continue;
      const around: Y.Item[] = [];
      let item: Y.Item | null = struct;
      for (; item && !depths.has(item); item = item.parent instanceof Y.AbstractType ? item.parent._item : null)
        around.push(item);
      let depth = item ? depths.get(item)! : 0;
      for (const each of around.reverse()) depths.set(each, ++depth);
      // One more than values may be deep: the characters of an element are in a text of its own.
      if (depth > crdtLimits.depth + 1) return true;
    }
  }
  return false;
}
