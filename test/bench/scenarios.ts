import * as registry from '../../functions/index.ts';
import type { Endpoint } from '../../lib/endpoint.ts';
import { type AwsCall, type Consumption, type Recorder, total } from '../support/capacity.ts';
import { handlerOf } from '../support/customer.ts';
import { type Headers, post } from '../support/requests.ts';
import { newWorkspace, type TestWorkspace } from '../support/workspaces.ts';

/** A workspace that holds what the endpoints' examples make, and a second API key. */
export interface Subject extends TestWorkspace {
  readonly secondApiKey: string;
}

/** One request of an endpoint as customers send it. */
export interface Scenario {
  readonly path: Endpoint['path'];
  readonly what: string;
  /** The request's `data`. It is sent twice, to be warm the second time: `n` makes two things of what it writes. */
  data(n: number, subject: Subject): unknown;
}

/** What a warm request costs, the reading of credentials aside. */
export interface Cost extends Consumption {
  /** Calls of AWS. */
  readonly calls: number;
  /** How many of them had to wait for each other. */
  readonly roundTrips: number;
}

const organizationId = 'acme';
const document = { type: 'document', id: 'nda', organizationId };

/** At least one of every endpoint. */
export const scenarios: readonly Scenario[] = [
  { path: '/v2/organizations/add', what: 'one', data: (n) => ({ organizations: [{ organizationId: `one-${n}`, organizationName: 'One' }] }) },
  { path: '/v2/organizations/add', what: 'two', data: (n) => ({ organizations: [{ organizationId: `two-${n}-a` }, { organizationId: `two-${n}-b` }] }) },
  { path: '/v2/organizations/get', what: 'by id', data: () => ({ organizationIds: [organizationId] }) },
  { path: '/v2/organizations/get', what: 'a page', data: () => ({ pageSize: 100 }) },
  { path: '/v2/organizations/folders/add', what: 'one at the top', data: (n) => ({ organizationId, folders: [{ folderId: `top-${n}`, folderName: 'Top' }] }) },
  { path: '/v2/organizations/folders/add', what: 'one in a folder', data: (n) => ({ organizationId, folders: [{ folderId: `sub-${n}`, parentFolderId: 'contracts' }] }) },
  { path: '/v2/organizations/documents/add', what: 'one', data: (n) => ({ organizationId, documents: [{ documentId: `loose-${n}`, documentName: 'Loose' }] }) },
  { path: '/v2/organizations/documents/add', what: 'one in a folder', data: (n) => ({ organizationId, folderId: 'contracts', documents: [{ documentId: `filed-${n}` }] }) },
  { path: '/v2/organizations/documents/access/update', what: 'one', data: (n) => ({ organizationId, documentIds: ['loose-0'], accessType: n === 0 ? 'restricted' : 'public' }) },
  { path: '/v2/organizations/documents/get', what: 'by id', data: () => ({ organizationId, documentIds: ['loose-0'] }) },
  { path: '/v2/organizations/documents/get', what: 'by id, in a folder', data: () => ({ organizationId, documentIds: ['nda'] }) },
  { path: '/v2/organizations/documents/get', what: 'a page', data: () => ({ organizationId, pageSize: 100 }) },
  { path: '/v2/organizations/documents/get', what: 'a page of a folder', data: () => ({ organizationId, folderId: 'contracts', pageSize: 100 }) },
  { path: '/v2/users/add', what: 'one to an organization', data: (n) => ({ organizationId, users: [{ userId: `user-${n}`, name: 'A user', email: 'user@example.com' }] }) },
  { path: '/v2/users/add', what: 'one to a document', data: (n) => ({ organizationId, documentId: 'nda', users: [{ userId: `reader-${n}` }] }) },
  { path: '/v2/users/add', what: 'one who is there, unchanged', data: () => ({ organizationId, users: [{ userId: 'ada' }] }) },
  { path: '/v2/users/get', what: 'by id', data: () => ({ organizationId, userIds: ['ada'] }) },
  { path: '/v2/users/get', what: 'a page', data: () => ({ organizationId, pageSize: 100 }) },
  { path: '/v2/users/get', what: 'a page of a document', data: () => ({ organizationId, documentId: 'nda', pageSize: 100 }) },
  { path: '/v2/auth/permissions/add', what: 'one document', data: () => ({ user: { userId: 'ada' }, permissions: { resources: [document] } }) },
  { path: '/v2/auth/permissions/get', what: 'on the organization', data: () => ({ organizationId, userIds: ['ada'] }) },
  { path: '/v2/auth/permissions/get', what: 'on a folder', data: () => ({ organizationId, userIds: ['ada'], folderIds: ['contracts'] }) },
  { path: '/v2/auth/permissions/get', what: 'on a document', data: () => ({ organizationId, userIds: ['ada'], documentIds: ['loose-0'] }) },
  { path: '/v2/auth/permissions/get', what: 'on a document in a folder', data: () => ({ organizationId, userIds: ['ada'], documentIds: ['nda'] }) },
  { path: '/v2/auth/permissions/remove', what: 'one document', data: () => ({ userId: 'ada', permissions: { resources: [document] } }) },
  { path: '/v2/workspace/create', what: 'one', data: (n) => ({ ownerEmail: `bench-${n}@example.com` }) },
  { path: '/v2/workspace/get', what: 'its own', data: () => ({}) },
  { path: '/v2/workspace/apikey/create', what: 'one', data: (_n, { ownerEmail }) => ({ ownerEmail, type: 'testing' }) },
  { path: '/v2/workspace/apikey/update', what: 'one', data: (n, { secondApiKey }) => ({ apiKey: secondApiKey, apiKeyName: `Second ${n}` }) },
  { path: '/v2/workspace/apikeys/get', what: 'by id', data: (_n, { secondApiKey }) => ({ apiKeys: [secondApiKey] }) },
  { path: '/v2/workspace/apikeys/get', what: 'a page', data: () => ({}) },
  { path: '/v2/workspace/authtokens/get', what: 'of one key', data: (_n, { secondApiKey }) => ({ apiKey: secondApiKey }) },
  { path: '/v2/workspace/authtoken/reset', what: 'of one key', data: (_n, { secondApiKey }) => ({ apiKey: secondApiKey }) },
];

const madeByExamples = ['/v2/organizations/add', '/v2/organizations/folders/add', '/v2/organizations/documents/add', '/v2/users/add', '/v2/auth/permissions/add'];

/** Makes a workspace and sends the examples that create things. */
export async function prepare(): Promise<Subject> {
  const workspace = await newWorkspace();
  for (const path of madeByExamples) await send(endpointAt(path), workspace, endpointAt(path).example.data);
  const { apiKey } = await send(endpointAt('/v2/workspace/apikey/create'), workspace, { ownerEmail: workspace.ownerEmail, type: 'testing' });
  return { ...workspace, secondApiKey: apiKey };
}

/** Sends a scenario's request twice and gives what the second one cost. */
export async function costOf(recorder: Recorder, subject: Subject, { path, data }: Scenario): Promise<Cost> {
  const endpoint = endpointAt(path);
  await send(endpoint, subject, data(0, subject));
  const { calls } = await recorder.record(() => send(endpoint, subject, data(1, subject)));
  return costOfCalls(endpoint.freshCredentials ? calls.slice(1) : calls);
}

/** The cost of recorded calls. */
export function costOfCalls(calls: readonly AwsCall[]): Cost {
  return { calls: calls.length, roundTrips: new Set(calls.map(({ wave }) => wave)).size, ...total(calls) };
}

/** Sends `data` with the credentials that the endpoint asks for; throws when it, or any item of it, fails. */
async function send({ path, auth }: Endpoint, { headers, keyHeaders }: TestWorkspace, data: unknown): Promise<any> {
  const credentials: Record<Endpoint['auth'], Headers> = { apiKey: keyHeaders, workspace: headers, none: {} };
  const { status, body } = await post(await handlerOf(path), credentials[auth], data);
  if (status !== 200 || JSON.stringify(body).includes('"success":false')) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.result.data;
}

function endpointAt(path: string): Endpoint {
  const endpoint = Object.values<Endpoint>(registry).find((each) => each.path === path);
  if (!endpoint) throw new Error(`There is no endpoint ${path}`);
  return endpoint;
}
