import * as Y from 'yjs';
import { jsonBytes } from '../../../shared/bytes.ts';
import { TooManyConflicts, withBoundedConflicts } from './boundedConflicts.ts';
import { copyOf, encodeState, MalformedUpdate, withoutKnownChanges } from './document.ts';
import { hasMisplacedItem } from './misplacedItems.ts';
import { readValue } from './readValue.ts';
import { readXml, spellingKey } from './readXml.ts';
import { isText, itemsOf, rootOf, type Shared } from './sharedTypes.ts';
import { countStructure } from './updateStructure.ts';
import { crdtLimits, type CrdtType, findJsonFault, tooDeep, tooLarge } from './values.ts';
import { isWriter } from './writers.ts';
import { XmlTooLong } from './xmlNodes.ts';

/** A document with fewer structs cannot have too many conflicts, because n structs have at most n * n / 2. */
const FEW_STRUCTS = Math.sqrt(2 * crdtLimits.conflictSteps);
/** No client makes so many changes. Yjs encodes the differences of clocks, and larger ones overflow. */
const MAX_CLOCK = 2 ** 50;
const MALFORMED = 'Update must be a Yjs update (format 1)';

type DecodedUpdate = ReturnType<typeof Y.decodeUpdate>;
type Struct = DecodedUpdate['structs'][number];

export function findUpdateFault(
  doc: Y.Doc,
  type: CrdtType,
  contentKey: string,
  update: Uint8Array,
  isOwn = false,
): string | undefined {
  if (update.length > crdtLimits.stateBytes) return `Update must not be larger than ${crdtLimits.stateBytes} bytes.`;
  try {
    const fault = findStructureFault(update);
    if (fault) return fault;
    const decoded = readUpdate(() => Y.decodeUpdate(update));
    if (!isWellFormed(decoded)) return `${MALFORMED}.`;
    return (
      (isOwn ? undefined : findForeignChange(doc, decoded)) ??
      findAdditionFault(doc, contentKey, decoded) ??
      findDocumentFault(doc, copyWith(doc, update, decoded), type, contentKey)
    );
  } catch (error) {
    if (error instanceof MalformedUpdate) return error.message;
    if (error instanceof TooManyConflicts) return 'Update has too many concurrent changes in one place.';
    throw error;
  }
}

const tooManyClients = `The document must not have changes of more than ${crdtLimits.clients} clients of Yjs.`;
const tooManyStructs = `The document must not have more than ${crdtLimits.structs} structs of Yjs.`;

function findStructureFault(update: Uint8Array): string | undefined {
  const { clients, structs, parts, hasSubdocuments } = readUpdate(() => countStructure(update));
  if (hasSubdocuments) return 'Update must not have subdocuments.';
  if (clients > crdtLimits.clients) return tooManyClients;
  if (structs > crdtLimits.structs) return tooManyStructs;
  return parts > crdtLimits.parts
    ? `Update must not have more than ${crdtLimits.parts} objects, arrays and keys in all.`
    : undefined;
}

/**
 * Yjs also decodes structs and deletions that it never writes. When the document is encoded and read again, these mean
 * something else or are lost.
 */
function isWellFormed({ structs, ds }: DecodedUpdate): boolean {
  const isValid = (struct: Struct) => {
    const { client, clock } = struct.id;
    const refersBack = referencesOf(struct).every((id) => id.clock < (id.client === client ? clock : MAX_CLOCK));
    return struct instanceof Y.Skip || (struct.length > 0 && clock + struct.length <= MAX_CLOCK && refersBack);
  };
  return (
    structs.every(isValid) &&
    [...ds.clients.values()].every((ranges) =>
      ranges.every(({ clock, len }, index) => {
        const before = ranges[index - 1];
        return clock >= (before ? before.clock + before.len : 0) && clock + len <= MAX_CLOCK;
      }),
    )
  );
}

/**
 * Changes of the service that the document does not have come from a deleted document of the same name. The service's
 * next change would get a client id and clock that are already in use, or would apply changes that were never checked.
 */
function findForeignChange({ store }: Y.Doc, { structs, ds }: DecodedUpdate): string | undefined {
  const isForeign = (client: number, end: number) => isWriter(client) && end > Y.getState(store, client);
  const hasForeignChange =
    structs.some(
      (struct) =>
        !(struct instanceof Y.Skip) &&
        (isForeign(struct.id.client, struct.id.clock + struct.length) ||
          referencesOf(struct).some(({ client, clock }) => isForeign(client, clock + 1))),
    ) ||
    [...ds.clients].some(([client, deletions]) => deletions.some(({ clock, len }) => isForeign(client, clock + len)));
  return hasForeignChange
    ? 'Update has changes of another document: one of this name may have been deleted.'
    : undefined;
}

function referencesOf(struct: Struct): Y.ID[] {
  if (!(struct instanceof Y.Item)) return [];
  const ids: unknown[] = [struct.origin, struct.rightOrigin, struct.parent];
  return ids.filter((id) => id instanceof Y.ID);
}

function findAdditionFault({ store }: Y.Doc, contentKey: string, { structs, ds }: DecodedUpdate): string | undefined {
  const added = structs.filter(
    (struct) => !(struct instanceof Y.Skip) && struct.id.clock + struct.length > Y.getState(store, struct.id.client),
  );
  const clients = new Set([...store.clients.keys(), ...added.map(({ id }) => id.client)]);
  if (clients.size > crdtLimits.clients) return tooManyClients;
  if (sizeOf(store.clients) + added.length + sizeOf(ds.clients) > crdtLimits.structs) return tooManyStructs;
  const root = added.map(rootNameOf).find((name) => name !== undefined && name !== contentKey);
  if (root === undefined) return undefined;
  const shortened = root.length > 100 ? `${root.slice(0, 100).toWellFormed()}...` : root;
  return `Update must change only what is under ${JSON.stringify(contentKey)}, and not ${JSON.stringify(shortened)}.`;
}

/**
 * Returns the name of the root type that has the struct. Leaves out the service's own structs that store the spelling
 * of XML.
 */
function rootNameOf(struct: Struct): string | undefined {
  const name: unknown = struct instanceof Y.Item ? struct.parent : undefined;
  if (typeof name !== 'string' || (isWriter(struct.id.client) && name.startsWith(spellingKey('')))) return undefined;
  return name;
}

function sizeOf(lists: ReadonlyMap<number, readonly unknown[]>): number {
  return [...lists.values()].reduce((sum, list) => sum + list.length, 0);
}

/** Throws TooManyConflicts if the result would take too long to open, also because of earlier updates. */
function copyWith(doc: Y.Doc, update: Uint8Array, { structs }: DecodedUpdate): Y.Doc {
  const apply = () => {
    const changed = copyOf(doc);
    readUpdate(() => Y.applyUpdate(changed, withoutKnownChanges(doc, update)));
    return changed;
  };
  return sizeOf(doc.store.clients) + structs.length < FEW_STRUCTS ? apply() : withBoundedConflicts(apply);
}

function readUpdate<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw cause instanceof MalformedUpdate ? cause : new MalformedUpdate(`${MALFORMED}.`, { cause });
  }
}

function findDocumentFault(doc: Y.Doc, changed: Y.Doc, type: CrdtType, contentKey: string): string | undefined {
  const fault = findStateFault(doc, changed);
  if (fault !== undefined) return fault;
  try {
    return findContentFault(changed, type, contentKey);
  } catch (error) {
    // Yjs itself throws for some content, for example if it cannot convert an attribute to text.
    return error instanceof XmlTooLong ? tooLarge : 'Update must leave the document readable.';
  }
}

function findStateFault(doc: Y.Doc, changed: Y.Doc): string | undefined {
  if (encodeState(changed).length > crdtLimits.stateBytes)
    return `The document must not be larger than ${crdtLimits.stateBytes} bytes.`;
  const { pendingStructs, pendingDs } = changed.store;
  if ((pendingStructs?.update.length ?? 0) + (pendingDs?.length ?? 0) > crdtLimits.waitingBytes)
    return `Update must not wait for others with more than ${crdtLimits.waitingBytes} bytes: send the missing updates first.`;
  if (isTooDeep(changed)) return tooDeep;
  if (markCharacters(changed) > crdtLimits.valueBytes) return tooLarge;
  return hasMisplacedItem(changed, doc) ? 'Update must put content only where a client of Yjs puts it.' : undefined;
}

/** Yjs reads nested types by recursion, so they could overflow the stack. */
function isTooDeep(doc: Y.Doc): boolean {
  const depths = new Map<Y.Item, number>();
  for (const struct of [...doc.store.clients.values()].flat()) {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) continue;
    const ancestors: Y.Item[] = [];
    let item: Y.Item | null = struct;
    while (item && !depths.has(item)) {
      ancestors.push(item);
      item = item.parent instanceof Y.AbstractType ? item.parent._item : null;
    }
    let depth = (item && depths.get(item)) ?? 0;
    for (const ancestor of ancestors.reverse()) depths.set(ancestor, ++depth);
    // An element stores its characters in a type of their own, one level deeper than values.
    if (depth > crdtLimits.depth + 1) return true;
  }
  return false;
}

/**
 * Counts the characters of marks that Yjs writes when it turns an XML type in a map or array into text: it repeats all
 * marks for each segment. A small update could make gigabytes of text.
 */
function markCharacters(doc: Y.Doc): number {
  let characters = 0;
  for (const struct of [...doc.store.clients.values()].flat()) {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) continue;
    const { type } = struct.content;
    if (!(type instanceof Y.XmlText)) continue;
    const marks = new Map<string, number>();
    let [active, isCounted] = [0, false];
    for (const { content } of itemsOf(type as Shared)) {
      if (content instanceof Y.ContentFormat) {
        const { key, value } = content as { key: string; value: unknown };
        const size = value === null ? 0 : key.length + JSON.stringify(value).length;
        active += size - (marks.get(key) ?? 0);
        marks.set(key, size);
        isCounted = false;
      } else if (!isCounted || !(content instanceof Y.ContentString)) {
        characters += active;
        isCounted = content instanceof Y.ContentString;
      }
    }
  }
  return characters;
}

function findContentFault(doc: Y.Doc, type: CrdtType, contentKey: string): string | undefined {
  const root = rootOf(doc, contentKey);
  if (root && !fitsType(root, type))
    return `Update must hold ${contents[type]} under ${JSON.stringify(contentKey)}, for type ${type}.`;
  if (type === 'map' || type === 'array') return findJsonFault(type, readValue(doc, type, contentKey));
  const text = type === 'xml' ? readXml(doc, contentKey, crdtLimits.valueBytes) : readValue(doc, type, contentKey);
  return jsonBytes(text) > crdtLimits.valueBytes ? tooLarge : undefined;
}

const contents: Readonly<Record<CrdtType, string>> = {
  text: 'a Y.Text',
  map: 'a Y.Map',
  array: 'a Y.Array',
  xml: 'a Y.XmlFragment or Y.XmlText',
};

function fitsType(root: Shared, type: CrdtType): boolean {
  const items = [...itemsOf(root)];
  switch (type) {
    case 'text':
      return items.every(isText);
    case 'map':
      return items.length === 0;
    case 'array':
      return [...root._map.values()].every(({ deleted }) => deleted) && !items.some(isText);
    case 'xml':
      return items.every((item) => isText(item) || isXmlType(item));
  }
}

function isXmlType({ content }: Y.Item): boolean {
  return (
    content instanceof Y.ContentType && content.type.constructor !== Y.Array && content.type.constructor !== Y.Text
  );
}
