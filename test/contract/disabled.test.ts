import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { isObject } from '../../lib/shared/collections.ts';
import { acmeWorld, forAllTests } from '../support/acmeWorld.ts';
import { handlerOf, restartFunctions } from '../support/functionHandlers.ts';
import { deleteItem, everyItem, putItem } from '../support/items.ts';
import { startQueues } from '../support/queues.ts';
import { post, type Response } from '../support/requests.ts';
import { allHeadersOf } from '../support/userCaller.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { cases as all } from './cases.ts';
import { dataSchema } from './contract.ts';

const { engine } = acmeWorld({ table: 'memory', isShared: true });
forAllTests(startQueues);
const workspace = forAllTests(() => newWorkspace());
const headers = forAllTests(async () => allHeadersOf(workspace));
// The search asks a model, which these tests do not have.
const cases = all.filter(([path]) => path !== '/v2/memory/search');

type Item = Record<string, any>;
const NO_ACCESS = 'PERMISSION_DENIED: The user has no access to this resource, or a role that is not enough.';

type State = 'organization' | 'document';

/** Writes that a disabled organization or document does not refuse. */
const allowed = [
  ...['', '/documents', '/folders'].map((resource) => `/v2/organizations${resource}/delete`),
  ...['', '/documents'].map((resource) => `/v2/organizations${resource}/access/disablestate/update`),
  '/v2/organizations/update',
  '/v1/organizations/documents/locations/update',
  '/v1/organizations/documents/locations/data/delete',
  '/v1/organizations/usergroups/users/delete',
  '/v2/auth/permissions/remove',
  '/v2/users/delete',
  '/v2/users/data/delete',
  // An answer other than ACCEPTED gives no access.
  '/v2/users/invite/respond',
  '/v2/crdt/delete',
  '/v2/presence/delete',
  '/v2/events/publish',
  '/v2/workspace/domains/request',
];

/** What differs from the rule that a write is refused if it names the disabled organization or document. */
const others: Readonly<Record<string, Partial<Record<State, string>>>> = {
  ...Object.fromEntries(allowed.map((path) => [path, { organization: 'as before', document: 'as before' }])),
  // They create what they name.
  '/v2/organizations/add': { organization: 'as before' },
  '/v2/organizations/documents/add': { document: 'as before' },
  // The settings of a user.
  '/v2/notifications/config/set': { document: 'as before' },
  '/v1/notifications/config/set': { document: 'as before' },
  // The activities name the document.
  '/v2/activities/update': { document: 'refused' },
  // A user token reaches nothing in a disabled organization.
  '/v2/live/connect': { organization: NO_ACCESS },
  '/v2/live/changes': { organization: NO_ACCESS },
};

/** Returns all texts of the fields with a name in the examples. */
function valuesOf(node: unknown, name: RegExp): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => [
    ...(name.test(key) ? [value].flat().filter((text) => typeof text === 'string') : []),
    ...valuesOf(value, name),
  ]);
}

/** Returns whether the data of an endpoint can name an organization or a document, at any depth. */
function canName(path: string, state: State): boolean {
  const fields = JSON.stringify(dataSchema(path));
  const pattern = state === 'document' ? /"document(s|Ids?)":\{|"document"[,\]]/ : /"organization(s|Ids?)":\{/;
  return pattern.test(fields);
}

/** Returns the example of an endpoint, or the example with what names a document. */
function dataOf({ path, example }: Endpoint): object {
  const { properties = {} } = dataSchema(path);
  const data = example.data as Item;
  const place = ['documentId', 'documentIds', 'folderId', 'notifications', 'documents', 'permissions'];
  const isOpen = !place.some((field) => field in data);
  const resources = [{ type: 'document', id: 'nda', organizationId: 'acme' }];
  return {
    ...data,
    ...(isOpen && 'documentId' in properties && { documentId: 'nda' }),
    ...(isOpen && 'permissions' in properties && { permissions: { resources } }),
    ...('authToken' in data && { apiKey: workspace.apiKey, authToken: workspace.authToken }),
  };
}

async function call(endpoint: Endpoint): Promise<Response> {
  return post(handlerOf(endpoint.path), headers[endpoint.auth], dataOf(endpoint));
}

/** Returns the refusal of a call, or of an item of it. Undefined if all succeeded. */
function refusal({ body }: Response): string | undefined {
  if (body.error) return `${body.error.status}: ${body.error.message}`;
  const results = isObject(body.result.data) ? Object.values<any>(body.result.data) : [];
  return results.find((result) => result?.success === false)?.message;
}

const answers = new Map<string, Partial<Record<State | 'enabled', string | undefined>>>();

const itemsNow = async () => new Map((await everyItem(engine)).map((item) => [`${item.PK}\n${item.SK}`, item]));

async function restore(stored: ReadonlyMap<string, Item>): Promise<void> {
  const now = await itemsNow();
  for (const [key, item] of now) if (!stored.has(key)) await deleteItem(engine, item);
  // The table replaces an item that it changes, so an unchanged item is the same object.
  for (const [key, item] of stored) if (now.get(key) !== item) await putItem(engine, item);
}

beforeAll(async () => {
  const send = async (path: string, data: object) => post(handlerOf(path), headers.apiKey, data);
  const examples = cases.map(([, { example }]) => example.data);
  const documentIds = [...new Set(examples.flatMap((data) => valuesOf(data, /^documentIds?$/)))];
  const documents = documentIds.map((documentId) => ({ documentId }));
  await send('/v2/organizations/documents/add', { organizationId: 'acme', documents });
  const users = valuesOf(examples, /^userIds$/).map((userId) => ({ userId }));
  await send('/v2/users/add', { organizationId: 'acme', documentId: 'nda', users });
  await send('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true, immutable: false } });
  const keeping = cases.filter(([path]) => !/delete|remove|disablestate|activityconfig|migrate/.test(path));
  // In the second round, each example finds the data of all others.
  for (const [, endpoint] of [...keeping, ...keeping]) await call(endpoint);
  const before = await itemsNow();
  // Functions cache what they read about users for some seconds.
  for (const [state, path, ids] of [
    ['enabled'],
    ['organization', '/v2/organizations/access/disablestate/update', { organizationIds: ['acme'] }],
    ['document', '/v2/organizations/documents/access/disablestate/update', { organizationId: 'acme', documentIds }],
  ] as const) {
    restartFunctions();
    if (path) await send(path, { ...ids, disabled: true });
    let stored = await itemsNow();
    for (const [called, endpoint] of cases) {
      answers.set(called, { ...answers.get(called), [state]: refusal(await call(endpoint)) });
      await restore(stored);
      stored = await itemsNow();
    }
    await restore(before);
  }
}, 100_000);

/** Returns the expected outcomes of a call. */
function expected(path: string, kind: Endpoint['kind']): Record<State, string> {
  const isRefused = (state: State) => kind === 'write' && canName(path, state);
  return {
    organization: isRefused('organization') ? 'refused' : 'as before',
    document: isRefused('document') ? 'refused' : 'as before',
    ...others[path],
  };
}

function outcome(path: string, state: State): string | undefined {
  const { enabled, [state]: disabled } = answers.get(path)!;
  if (disabled?.replace('FAILED_PRECONDITION: ', '') === `The ${state} is disabled`) return 'refused';
  return disabled === enabled ? 'as before' : disabled;
}

const rows = cases.map(([path, { kind }]) => ({ path, kind, ...expected(path, kind) }));

describe.each(['read', 'write'] as const)('a %s', (kind) => {
  test.each(rows.filter((row) => row.kind === kind))(
    '$path in a disabled organization: $organization, and in a disabled document: $document',
    ({ path, organization, document }) => {
      expect([outcome(path, 'organization'), outcome(path, 'document')]).toEqual([organization, document]);
    },
  );
});

test.each(allowed)('%s changes disabled organizations and documents too', (path) => {
  expect(answers.get(path)).toEqual({ enabled: undefined, organization: undefined, document: undefined });
});
