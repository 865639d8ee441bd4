import { describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import type { JsonSchema } from '../../lib/openapi/document.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { type Customer, newCustomer } from '../support/customer.ts';
import { startEngine } from '../support/engine.ts';
import { handlerOf } from '../support/functionHandlers.ts';
import { post, type Response, resultOf } from '../support/requests.ts';
import { withStillClock } from '../support/stillClock.ts';
import { times } from '../support/times.ts';
import { newUser } from '../support/userTokens.ts';
import { cases } from './cases.ts';
import { dataSchema, expectDocumented } from './contract.ts';

interface Place {
  readonly organizationId: string;
  readonly documentId: string;
}

interface Listing {
  /** Adds an item to the listing of a place. `prepared` is the result of `prepare`. */
  add(customer: Customer, id: string, at: Place, prepared: any): Promise<unknown>;
  /** Creates what the items of a place are in. Returns the fields of the request that name it. */
  readonly prepare?: (customer: Customer, at: Place) => Promise<object>;
  /** Further fields of each request. */
  readonly data?: object;
  /** How many items the listing needs for a second page, if the endpoint has pages of a fixed size. */
  readonly count?: number;
  /** Other values of filters, if they have a form of their own. */
  readonly filters?: Readonly<Record<string, unknown>>;
  /** Fields that may change between two pages. */
  readonly free?: readonly string[];
}

const nda = { organizationId: 'acme', documentId: 'nda' };
const tos = { organizationId: 'acme', documentId: 'tos' };
const inBeta = { organizationId: 'beta', documentId: 'nda' };
const from = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
const organizationOf = ({ organizationId }: Place) => ({ organizationId });

const addActivity: Listing['add'] = (customer, id, at) =>
  customer.ok('/v2/activities/add', {
    ...at,
    activities: [{ id, featureType: 'custom', actionType: 'sign', actionUser: from, targetEntityId: 'contract' }],
  });
const addThread: Listing['add'] = (customer, id, at) =>
  customer.ok('/v2/commentannotations/add', {
    ...at,
    commentAnnotations: [{ annotationId: id, commentData: [{ commentText: id, from }] }],
  });
const addNotification: Listing['add'] = (customer, id, at) =>
  customer.ok('/v2/notifications/add', {
    ...at,
    notificationId: id,
    actionUser: from,
    notifyUsers: [from],
    displayHeadlineMessageTemplate: id,
    displayBodyMessage: id,
  });
const addUser: Listing['add'] = (customer, id, at) => customer.addUsers([id], at);

/** By path, how to fill a listing. */
const listings: Readonly<Record<string, Listing>> = {
  '/v2/activities/get': { add: addActivity },
  '/v2/activities/delete': { add: addActivity, data: { targetEntityId: 'contract' }, count: 101 },
  '/v2/agents/versions/list': {
    prepare: async (customer) => {
      const { agentId } = await customer.ok('/v2/agents/create', { name: 'Tone', instructions: 'Report shouting.' });
      return { agentId };
    },
    add: (customer, instructions, _at, { agentId }) =>
      customer.ok('/v2/agents/version/update', { agentId, instructions }),
  },
  '/v2/commentannotations/get': {
    add: addThread,
    free: ['groupByDocumentId', 'includeMetadata', 'includePageInfo', 'userId'],
  },
  '/v2/commentannotations/comments/get': {
    prepare: async (customer, at) => {
      for (const id of ['thread', 'other']) await addThread(customer, id, at, {});
      return { annotationId: 'thread' };
    },
    add: (customer, id, at) =>
      customer.ok('/v2/commentannotations/comments/add', {
        ...at,
        annotationId: 'thread',
        commentData: [{ commentText: id, from }],
      }),
  },
  '/v2/crdt/versions/get': {
    prepare: async (customer, at) => {
      for (const editorId of ['editor', 'other'])
        await customer.ok('/v2/crdt/add', { ...at, editorId, type: 'text', data: 'text' });
      return { editorId: 'editor' };
    },
    add: (customer, name, at) => customer.ok('/v2/crdt/versions/add', { ...at, editorId: 'editor', name }),
    free: ['versionId', 'includeState'],
  },
  '/v2/livestate/get': {
    add: (customer, liveStateDataId, at) =>
      customer.ok('/v2/livestate/broadcast', { ...at, liveStateDataId, data: { id: liveStateDataId } }),
  },
  '/v2/notifications/delete': { add: addNotification, count: 101 },
  '/v2/notifications/get': { add: addNotification },
  '/v2/notifications/update': {
    add: addNotification,
    data: { userId: 'ada', markAllAsRead: true },
    count: 101,
    free: ['markAllAsRead', 'notifications', 'verifyUserPermissions'],
  },
  '/v2/organizations/documents/get': {
    add: (customer, id, at) => customer.addDocuments([id], organizationOf(at)),
    filters: { filters: [{ key: 'owner', operator: '==', value: 'legal' }] },
    free: ['orderByCommentViews'],
  },
  '/v2/organizations/folders/get': {
    add: (customer, id, at) => customer.addFolders([id], organizationOf(at)),
    free: ['maxDepth', 'rootFoldersOnly'],
  },
  '/v2/organizations/get': { add: (customer, id) => customer.addOrganizations([id]) },
  '/v2/organizations/usergroups/get': {
    add: (customer, id, at) => customer.addGroup(id, [], organizationOf(at)),
  },
  '/v2/recordings/get': {
    add: (customer, annotationId, at) => customer.addRecordings([{ annotationId, recordingType: 'audio', from }], at),
  },
  '/v2/users/data/get': {
    add: addThread,
    data: { userId: 'ada' },
    count: 101,
    free: ['uniqueId', 'svcAllOrganizations'],
  },
  '/v2/users/doc/get': { add: addUser, free: ['includeInvolvedDocuments'] },
  '/v2/users/get': {
    add: addUser,
    free: ['groupByDocumentId', 'includeInvolvedDocuments', 'includeInvolvedDocumentsCount'],
  },
  '/v2/users/invitations/get': {
    add: async (customer, documentId, at) => {
      await customer.addDocuments([documentId], organizationOf(at));
      const { organizationId } = at;
      const email = 'grace@example.com';
      await customer.ok('/v2/users/invite/add', { organizationId, documentId, email, type: 'doc_user' });
    },
    data: { email: 'grace@example.com' },
  },
  '/v2/users/invite/get': {
    add: (customer, id, at) =>
      customer.ok('/v2/users/invite/add', { ...organizationOf(at), email: `${id}@example.com`, type: 'org_user' }),
  },
  '/v2/workspace/advancedwebhook/endpoints/get': {
    add: (customer, uid) =>
      customer.ok('/v2/workspace/advancedwebhook/endpoints/create', { url: 'https://hooks.example.com', uid }),
  },
  '/v2/workspace/advancedwebhook/messages/get': {
    add: (customer, eventId, at) => customer.ok('/v2/events/publish', { ...at, event: 'huddle.create', eventId }),
  },
  '/v2/workspace/apikeys/get': {
    add: async ({ workspaceHeaders }, apiKeyName) => {
      const send = async (path: string, data: object) =>
        resultOf(await post(handlerOf(path), workspaceHeaders, data)).data;
      const { owner } = await send('/v2/workspace/get', {});
      await send('/v2/workspace/apikey/create', { ownerEmail: owner.email, type: 'testing', apiKeyName });
    },
  },
};

forAllTests(() => startEngine({ table: 'memory' }));

const tokenFields = ['pageToken', 'iterator'];
const sizeFields = ['pageSize', 'limit'];
const fieldOf = (path: string, names: readonly string[]) =>
  names.find((name) => name in (dataSchema(path).properties ?? {}));

const paged = cases.filter(([path]) => fieldOf(path, tokenFields) !== undefined);
const endpoints = new Map<string, Endpoint>(cases);

/** Creates what the items of all listings are in, in three places. */
async function prepareCustomer(): Promise<Customer> {
  const created = await newCustomer();
  await created.addDocuments(['nda', 'tos']);
  await created.addDocuments(['nda'], { organizationId: 'beta' });
  await created.addFolders(['drafts']);
  await created.ok('/v2/workspace/activityconfig/update', {
    activityServiceConfig: { isEnabled: true, immutable: false },
  });
  await created.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
  await created.ok('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true });
  return created;
}

/** A listing of a new customer. */
class OpenListing {
  readonly path: string;
  readonly customer: Customer;
  readonly tokenField: string;
  readonly sizeField: string | undefined;
  readonly row: Listing;
  #prepared: object = {};
  /** The fields that name the listing in another place, or the listing of another parent. */
  #others: Record<string, unknown> = {};

  private constructor(path: string, customer: Customer) {
    this.path = path;
    this.customer = customer;
    this.row = listings[path]!;
    this.tokenField = fieldOf(path, tokenFields)!;
    this.sizeField = fieldOf(path, sizeFields);
  }

  static async of(path: string, ids: readonly string[] = []): Promise<OpenListing> {
    const opened = new OpenListing(path, await prepareCustomer());
    const { prepare = () => Promise.resolve({}) } = opened.row;
    opened.#prepared = await prepare(opened.customer, nda);
    for (const at of [tos, inBeta])
      for (const [name, value] of Object.entries(await prepare(opened.customer, at)))
        if (value !== opened.data[name]) opened.#others[name] = value;
    await opened.add(...ids);
    return opened;
  }

  async add(...ids: string[]): Promise<void> {
    for (const id of ids) await this.row.add(this.customer, id, nda, this.#prepared);
  }

  get data(): Record<string, unknown> {
    const { properties = {} } = dataSchema(this.path);
    const place = Object.entries(nda).filter(([name]) => name in properties);
    return { ...Object.fromEntries(place), ...this.#prepared, ...this.row.data };
  }

  send(data: object, sender = this.customer): Promise<Response> {
    const { auth } = endpoints.get(this.path)!;
    return post(handlerOf(this.path), auth === 'workspace' ? sender.workspaceHeaders : sender.headers, data);
  }

  /** Sends a request whose answer is one part, even of an endpoint that writes. Such a call ends after 15 seconds. */
  sendPart(data: object): Promise<Response> {
    const send = () => this.send(data);
    return endpoints.get(this.path)!.kind === 'read' ? send() : withStillClock(send, Date.now(), 8_000);
  }

  /** Reads all pages. After each, calls `between` with the number of pages so far. Returns the ids of each page. */
  async pages(size?: number, between = (_count: number): Promise<unknown> => Promise.resolve()): Promise<unknown[][]> {
    const pages: unknown[][] = [];
    let token: string | null = null;
    do {
      const data = { ...this.sized(size), ...(token !== null && { [this.tokenField]: token }) };
      const answer = await this.sendPart(data);
      expectDocumented(endpoints.get(this.path)!, answer);
      expect([answer.status, answer.body.error]).toEqual([200, undefined]);
      pages.push(idsOf(answer.body.result.data));
      if (pages.length > 100) throw new Error(`${this.path} does not end`);
      token = nextOf(answer.body.result);
      await between(pages.length);
    } while (token !== null);
    return pages;
  }

  sized(size?: number): Record<string, unknown> {
    return { ...this.data, ...(size !== undefined && this.sizeField && { [this.sizeField]: size }) };
  }

  /** Returns the token of the second page. */
  async token(): Promise<string> {
    const token = nextOf(resultOf(await this.sendPart(this.sized(1)), this.path));
    if (token === null) throw new Error(`${this.path} has only one page`);
    return token;
  }

  /** By name, requests that select other items. Fields that a listing names as free are left out. */
  otherRequests(): [name: string, data: object][] {
    const { free = [], filters = {} } = this.row;
    return Object.entries(dataSchema(this.path).properties ?? {})
      .filter(([name]) => ![...tokenFields, ...sizeFields, ...free].includes(name))
      .map(([name, schema]) => [
        name,
        {
          ...this.data,
          ...(insteadOfDocument.includes(name) && { documentId: undefined }),
          [name]: filters[name] ?? this.#others[name] ?? otherValue(name, schema as JsonSchema),
        },
      ]);
  }
}

/** Fields that cannot stand beside a `documentId`. */
const insteadOfDocument = ['documentIds', 'folderId', 'allDocuments', 'organizationUserGroupIds'];

const idFields = [
  'annotationId',
  'commentId',
  'liveStateDataId',
  'versionId',
  'groupId',
  'userId',
  'folderId',
  'apiKey',
  'id',
];

/** Returns what identifies each item of an answer. The items are in lists, or are the results for each id. */
function idsOf(data: Record<string, any>): unknown[] {
  const lists = Array.isArray(data) ? [data] : Object.values(data).filter(Array.isArray);
  if (lists.length === 0 && Object.values(data).every((value) => typeof value?.success === 'boolean'))
    return Object.keys(data);
  return lists.flat().map((item: Record<string, unknown>) => {
    const field = idFields.find((name) => name in item);
    return field === undefined ? JSON.stringify([item.email, item.documentId, item.version]) : item[field];
  });
}

/** Returns the token that an answer continues with, null after the last page. */
function nextOf({ data, ...result }: Record<string, any>): string | null {
  const fields = { ...result, ...(!Array.isArray(data) && data) };
  const [name] = ['nextPageToken', 'pageToken', 'iterator'].filter((field) => field in fields);
  const token: string | null = fields[name!];
  const isEnd = token === null;
  for (const [end, value] of [
    ['done', isEnd],
    ['hasMore', !isEnd],
  ] as const)
    if (end in fields) expect([end, fields[end]]).toEqual([end, value]);
  return token;
}

/** Returns a value of a filter. No item has it. */
function otherValue(name: string, schema: JsonSchema): unknown {
  const known: Record<string, unknown> = {
    organizationId: 'beta',
    documentId: 'tos',
    folderId: 'drafts',
    email: 'other@example.com',
  };
  if (name in known) return known[name];
  const { type, anyOf, items, enum: values, minimum } = schema as Record<string, any>;
  if (anyOf) return otherValue(name, anyOf[0]);
  if (values) return values[0];
  switch ([type].flat()[0]) {
    case 'array':
      return [otherValue('', items)];
    case 'boolean':
      return true;
    case 'integer':
      return minimum ?? 1;
    default:
      return 'other';
  }
}

const ids = times(5, (n) => `m-${n}`);

describe('a listing in pages', () => {
  test('has a row here for every endpoint with a page token', () => {
    expect(Object.keys(listings).sort()).toEqual(paged.map(([path]) => path).sort());
  });
  const each = paged.filter(([path]) => listings[path] !== undefined);
  const reading = each.filter(([, { kind }]) => kind === 'read');
  const sized = each.filter(([path]) => fieldOf(path, sizeFields) !== undefined);

  test.each(reading)('%s returns each item once, in the order of one large page', async (path) => {
    const listing = await OpenListing.of(path, idsFor(path));
    const whole = await listing.pages();
    if (listing.sizeField) expect(whole).toHaveLength(1);
    const items = whole.flat();
    expect(new Set(items).size).toBe(items.length);
    expect(items.length).toBeGreaterThanOrEqual(ids.length);
    for (const size of listing.sizeField ? [1, 2, 3, items.length] : []) {
      const pages = await listing.pages(size);
      expect(pages.flat()).toEqual(items);
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(size);
    }
  });

  test.each(reading)('%s returns the items of before once, while items are added', async (path) => {
    const listing = await OpenListing.of(path, idsFor(path));
    const items = (await listing.pages()).flat();
    const seen = (
      await listing.pages(2, async (count) => {
        if (count <= 2) await listing.add(`a-${count}`, `z-${count}`);
      })
    ).flat();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => items.includes(id))).toEqual(items);
  });

  test.each(each.filter(([, { kind }]) => kind === 'write'))('%s changes each item once, in parts', async (path) => {
    const listing = await OpenListing.of(path, idsFor(path));
    const parts = await listing.pages();
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.flat().sort()).toEqual(idsFor(path));
  });

  test.each(each)('%s refuses tokens of other requests, tenants, users and endpoints', async (path, { user }) => {
    const listing = await OpenListing.of(path, idsFor(path));
    const token = await listing.token();
    const { tokenField, data } = listing;
    const own = { ...data, [tokenField]: token };
    const requests: Record<string, () => Promise<Response>> = Object.fromEntries(
      listing
        .otherRequests()
        .map(([name, other]) => [`another ${name}`, () => listing.send({ ...other, [tokenField]: token })]),
    );
    requests['a damaged token'] = () => listing.send({ ...own, [tokenField]: `${token}A` });
    requests['a text'] = () => listing.send({ ...own, [tokenField]: 'x' });
    requests['another endpoint'] = async () => {
      const source = path === '/v2/organizations/get' ? '/v2/organizations/documents/get' : '/v2/organizations/get';
      const { result } = (
        await listing.customer.call(source, {
          ...(path === '/v2/organizations/get' && { organizationId: 'acme' }),
          pageSize: 1,
        })
      ).body;
      return listing.send({ ...own, [tokenField]: nextOf(result) });
    };
    const another = await OpenListing.of(path);
    requests['another tenant'] = () => listing.send({ ...own, ...another.data }, another.customer);
    if (user) {
      const ada = await newUser(listing.customer, 'ada', [{ type: 'organization', id: 'acme' }]);
      requests['a user'] = () => ada.call(path, own);
    }
    requests['an old token'] = () => withStillClock(() => listing.send(own), Date.now() + 25 * 3_600_000);
    const outcomes: Record<string, unknown> = {};
    for (const [name, send] of Object.entries(requests)) {
      const { status, body } = await send();
      outcomes[name] = [status, body.error?.status, body.error?.details?.issues[0].path ?? body.error?.message];
    }
    const refused = [400, 'INVALID_ARGUMENT', [tokenField]];
    expect(outcomes).toEqual(Object.fromEntries(Object.keys(requests).map((name) => [name, refused])));
  });

  test.each(sized)('%s refuses a page size out of its bounds', async (path) => {
    const listing = await OpenListing.of(path);
    const { minimum, maximum } = dataSchema(path).properties![listing.sizeField!] as JsonSchema;
    expect([minimum, [100, 250, 1_000].includes(maximum!)]).toEqual([1, true]);
    for (const size of [0, maximum! + 1]) {
      const { status, body } = await listing.send(listing.sized(size));
      expect([status, body.error?.details?.issues[0].path]).toEqual([400, [listing.sizeField]]);
    }
    for (const size of [1, maximum]) expect((await listing.send(listing.sized(size))).status).toBe(200);
  });
});

function idsFor(path: string): string[] {
  const { count = 5 } = listings[path]!;
  return times(count, (n) => `m-${String(n).padStart(3, '0')}`);
}
