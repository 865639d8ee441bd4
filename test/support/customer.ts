import type { Methods } from '../../lib/client/methods.ts';
import { handlerOf } from './functionHandlers.ts';
import { errorOf, type Headers, post, type Response, resultOf } from './requests.ts';
import { newWorkspace } from './workspaces.ts';

/**
 * Adds entries to the organization `acme`, which documents, folders and users create if needed. Entries are ids, or
 * objects in the form of requests. `scope` names another organization, a folder or a document. Returns the `data` of
 * the answer.
 */
type Add = (entries: readonly (string | object)[], scope?: object) => Promise<any>;

/** `sendLoginLink` of the typed client is `send-login-link` in a path. */
type Hyphenated<K extends string> = K extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Hyphenated<Rest>}`
  : K;

/** The methods of the typed client by path. */
type ByPath<M, P extends string = ''> = UnionToIntersection<
  {
    [K in keyof M & string]: M[K] extends (...args: any) => any
      ? Record<`${P}/${Hyphenated<K>}`, M[K]>
      : ByPath<M[K], `${P}/${Hyphenated<K>}`>;
  }[keyof M & string]
>;

type UnionToIntersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void
  ? I
  : never;

export type Path = keyof ByPath<Methods>;
/** The `data` of a right call. */
export type DataOf<P extends Path> = Parameters<ByPath<Methods>[P]>[0];

export interface Customer {
  readonly headers: Headers;
  /** The credentials of the customer's workspace. */
  readonly workspaceHeaders: Headers;
  readonly apiKey: string;
  readonly authToken: string;
  /** Sends `data` to an endpoint with this customer's credentials. */
  call(path: string, data: unknown, headers?: Headers): Promise<Response>;
  /** Sends a right call. Returns the `data` of the answer. Throws if the call failed. */
  ok<P extends Path>(path: P, data: DataOf<P>): Promise<any>;
  /** As `ok`, for paths and data that only the run of a test makes. */
  untyped(path: string, data: unknown): Promise<any>;
  /** Sends a call that must succeed. Returns the whole `result` of the answer. */
  result(path: string, data: unknown): Promise<any>;
  /** Sends a call. Returns its HTTP status, and the status and the message of the error, if any. */
  error(path: string, data: unknown): Promise<[http: number, status?: string, message?: string]>;
  /**
   * Reads all pages of a list. Returns the `data` of each. After each page, calls `between` with the number of pages so
   * far. Throws if a page has more than 5 MB, or neither a page token nor null.
   */
  pages(path: string, data: object, between?: (count: number) => Promise<unknown>): Promise<any[]>;
  /** Adds organizations. Entries are ids, or objects in the form of requests. */
  addOrganizations(entries: readonly (string | object)[]): Promise<any>;
  readonly addDocuments: Add;
  readonly addFolders: Add;
  readonly addUsers: Add;
  /** Adds reactions in the document `nda`, or in another `scope`. */
  readonly addReactions: Add;
  /** Adds recordings in the document `nda`, or in another `scope`. */
  readonly addRecordings: Add;
  /** Adds users to a group of the organization `acme`, or of `scope`. Creates the group if it does not exist. */
  addGroup(groupId: string, userIds: readonly string[], scope?: object): Promise<void>;
  /** Gives a user grants on resources. */
  grant(userId: string, ...resources: object[]): Promise<any>;
  /** Sets the access type of documents of the organization `acme`. */
  setAccess(accessType: string, documentIds: readonly string[]): Promise<any>;
}

const toObjects = (entries: readonly (string | object)[], idName: string) =>
  entries.map((entry) => (typeof entry === 'string' ? { [idName]: entry } : entry));

/** Creates a customer, which has its own workspace and API key. */
export async function newCustomer(): Promise<Customer> {
  const { headers: workspaceHeaders, keyHeaders, apiKey, authToken } = await newWorkspace();
  const call = async (path: string, data: unknown, headers: Headers = {}) =>
    post(handlerOf(path), { ...keyHeaders, ...headers }, data);
  const result = async (path: string, data: unknown) => resultOf(await call(path, data), path);
  const untyped = async (path: string, data: unknown) => (await result(path, data)).data;
  const ok: Customer['ok'] = untyped;
  const addTo =
    (path: string, list: string, idName: string, defaults: object = { createOrganization: true }): Add =>
    (entries, scope) =>
      untyped(`${path}/add`, {
        organizationId: 'acme',
        ...defaults,
        ...scope,
        [list]: toObjects(entries, idName),
      });
  return {
    headers: keyHeaders,
    workspaceHeaders,
    apiKey,
    authToken,
    call,
    ok,
    untyped,
    result,
    error: async (path, data) => errorOf(await call(path, data)),
    async pages(path, data, between = () => Promise.resolve()) {
      const read: any[] = [];
      let pageToken: string | null | undefined;
      do {
        const page = await result(path, { ...data, ...(pageToken && { pageToken }) });
        read.push(page.data);
        pageToken = 'nextPageToken' in page ? page.nextPageToken : page.pageToken;
        if (pageToken === undefined || Buffer.byteLength(JSON.stringify(page)) > 5_000_000)
          throw new Error(`${path} returned a page without a token, or of more than 5 MB`);
        await between(read.length);
      } while (pageToken);
      return read;
    },
    addOrganizations: (entries) =>
      untyped('/v2/organizations/add', { organizations: toObjects(entries, 'organizationId') }),
    addDocuments: addTo('/v2/organizations/documents', 'documents', 'documentId'),
    addFolders: addTo('/v2/organizations/folders', 'folders', 'folderId'),
    addUsers: addTo('/v2/users', 'users', 'userId'),
    addReactions: addTo('/v2/reactions', 'reactions', 'annotationId', { documentId: 'nda' }),
    addRecordings: addTo('/v2/recordings', 'recordings', 'annotationId', { documentId: 'nda' }),
    async addGroup(groupId, userIds, scope) {
      const path = '/v2/organizations/usergroups';
      const organization = { organizationId: 'acme', ...scope };
      await untyped(`${path}/add`, { ...organization, organizationUserGroups: [{ groupId }] });
      if (userIds.length > 0)
        await untyped(`${path}/users/add`, { ...organization, organizationUserGroupId: groupId, userIds });
    },
    grant: (userId, ...resources) =>
      untyped('/v2/auth/permissions/add', { user: { userId }, permissions: { resources } }),
    setAccess: (accessType, documentIds) =>
      untyped('/v2/organizations/documents/access/update', { organizationId: 'acme', documentIds, accessType }),
  };
}
