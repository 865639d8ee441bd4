const WORKSPACE = '/v2/workspace';
const ADVANCED = `${WORKSPACE}/advancedwebhook`;
const ORGANIZATIONS = '/v2/organizations';

/** Many of these examples need data that earlier ones create, so their order matters. */
const firstExamples: readonly string[] = [
  ...[
    'create',
    'get',
    'authtokens/get',
    'domains/add',
    'domains/get',
    'email/send-login-link',
    'email/status',
    'domains/delete',
    'apikeys/get',
    'apikey/create',
    'apikey/update',
    'authtoken/reset',
  ].map((name) => `${WORKSPACE}/${name}`),
  ...[
    'activityconfig',
    'chatconfig',
    'emailconfig',
    'notificationconfig',
    'permissionproviderconfig',
    'webhookconfig',
  ].flatMap((name) => [`${WORKSPACE}/${name}/get`, `${WORKSPACE}/${name}/update`]),
  ...['advancedwebhookconfig', 'apikeyconfig'].flatMap((name) => [
    `${WORKSPACE}/${name}/update`,
    `${WORKSPACE}/${name}/get`,
  ]),

  ...['create', 'get', 'secret/get', 'secret/rotate', 'test'].map((name) => `${ADVANCED}/endpoints/${name}`),
  ...[
    'messages/get',
    'attempts/get',
    'messages/resend',
    'endpoints/recover',
    'endpoints/update',
    'endpoints/delete',
  ].map((name) => `${ADVANCED}/${name}`),

  ...[
    'add',
    'get',
    'update',
    'folders/add',
    'folders/get',
    'documents/add',
    'documents/access/update',
    'documents/get',
    'documents/update',
    'documents/move',
    'documents/count/get',
    'folders/access/update',
  ].map((name) => `${ORGANIZATIONS}/${name}`),
  ...['domains/request', 'requested/domains/get', 'additional-url-request'].map((name) => `${WORKSPACE}/${name}`),
  '/v2/users/add',
  '/v2/users/get',
  '/v2/users/count/get',
  ...['add', 'users/add', 'get'].map((name) => `${ORGANIZATIONS}/usergroups/${name}`),
  '/v2/users/update',
  ...['add', 'get', 'remove'].map((name) => `/v2/auth/permissions/${name}`),
  '/v1/auth/token/get',
  '/v2/auth/token/get',
  '/v2/auth/generate_token',
  '/v2/auth/generate_signature',
  ...['invite/add', 'invite/get', 'invitations/get', 'invite/pending/count', 'invite/respond'].map(
    (name) => `/v2/users/${name}`,
  ),

  '/v2/commentannotations/add',
  '/v2/commentannotations/get',
  '/v2/commentannotations/comments/add',
  '/v2/reactions/add',
  ...['comments/get', 'comments/update', 'count/get', 'comments/delete', 'update'].map(
    (name) => `/v2/commentannotations/${name}`,
  ),
  '/v2/reactions/delete',
  '/v2/recordings/add',
  '/v2/recordings/get',
  '/v2/notifications/add',
  '/v1/notifications/get',
  ...['get', 'config/set', 'config/get', 'update', 'delete'].map((name) => `/v2/notifications/${name}`),
  ...['add', 'get', 'updates/push', 'updates/get', 'update'].map((name) => `/v2/crdt/${name}`),
  ...['add', 'get', 'compare', 'update', 'restore', 'delete'].map((name) => `/v2/crdt/versions/${name}`),
  ...['add', 'get', 'update', 'delete'].map((name) => `/v2/presence/${name}`),
  ...['broadcast', 'get'].map((name) => `/v2/livestate/${name}`),
  ...['connect', 'changes'].map((name) => `/v2/live/${name}`),
  '/v2/events/publish',
  '/v2/users/data/get',
  ...['add', 'get', 'update', 'delete'].map((name) => `/v2/activities/${name}`),
  '/v2/memory/judgments/add',
  '/v2/memory/judgments/query',
  '/v2/memory/search',
  ...['extract', 'create', 'versions/list', 'version/update', 'get', 'update', 'versions/restore', 'delete'].map(
    (name) => `/v2/agents/${name}`,
  ),
  ...['create', 'get', 'add-agents', 'list', 'remove-agents', 'update', 'delete'].map(
    (name) => `/v2/agents/groups/${name}`,
  ),
];

const lastExamples: readonly string[] = [
  '/v2/crdt/delete',
  '/v1/organizations/documents/locations/update',
  '/v1/organizations/documents/locations/data/delete',
  '/v2/commentannotations/delete',
  '/v1/organizations/usergroups/users/delete',
  '/v2/users/delete',
  '/v2/users/data/delete',
  '/v2/users/data/delete/status',
  ...[
    'folders/update',
    'folders/delete',
    'documents/access/disablestate/update',
    'documents/delete',
    'access/disablestate/update',
    'delete',
  ].map((name) => `${ORGANIZATIONS}/${name}`),
];

/** Examples that neither list names run before the last ones, which delete the organization. */
export function orderExamples(paths: readonly string[]): string[] {
  const others = paths.filter((path) => !firstExamples.includes(path) && !lastExamples.includes(path));
  return [...firstExamples, ...others, ...lastExamples];
}

/** Requests before an example, by its path, for what no other example prepares. */
export const requestsBefore: Readonly<Record<string, readonly (readonly [path: string, data: object])[]>> = {
  [`${WORKSPACE}/domains/add`]: [[`${WORKSPACE}/domains/add`, { domains: ['localhost'] }]],
  '/v2/notifications/add': [[`${WORKSPACE}/notificationconfig/update`, { useNotificationService: true }]],
  '/v2/activities/add': [
    [`${WORKSPACE}/activityconfig/update`, { activityServiceConfig: { isEnabled: true, immutable: false } }],
  ],
  [`${ORGANIZATIONS}/documents/migrate`]: [
    [`${ORGANIZATIONS}/documents/add`, { organizationId: 'acme', documents: [{ documentId: 'nda-draft' }] }],
  ],
  '/v2/memory/judgments/add': [
    [`${ORGANIZATIONS}/documents/add`, { organizationId: 'acme', documents: [{ documentId: 'pricing' }] }],
  ],
};

const GENERATED = /^([a-z]+_[0-9A-Za-z]{20,}|[0-9a-f]{32}|<signed token>)$/;

export class ExampleValues {
  readonly #actual = new Map<unknown, unknown>();
  readonly #fixed: ReadonlySet<string>;

  /** Values in answers never change the replacements of `fixed`. */
  constructor(fixed: Readonly<Record<string, string>> = {}) {
    this.#fixed = new Set(Object.keys(fixed));
    for (const [example, value] of Object.entries(fixed)) this.set(example, value);
  }

  set(example: string, value: unknown): void {
    this.#actual.set(example, value);
  }

  fill(example: unknown): unknown {
    if (Array.isArray(example)) return example.map((item) => this.fill(item));
    if (typeof example !== 'object' || example === null) return this.#actual.get(example) ?? example;
    return Object.fromEntries(
      Object.entries(example).map(([key, value]) => [this.#actual.get(key) ?? key, this.fill(value)]),
    );
  }

  /**
   * `fill` then replaces the generated values of the example, except those in `fixed`, by the answer's values at the
   * same places.
   */
  recordAnswer(example: unknown, answer: unknown): void {
    if (typeof example === 'string' && GENERATED.test(example) && typeof answer === 'string')
      this.#record(example, answer);
    if (typeof example !== 'object' || example === null || typeof answer !== 'object' || answer === null) return;
    const answerEntries = Object.entries(answer);
    for (const [index, [key, value]] of Object.entries(example).entries()) {
      const isGenerated = GENERATED.test(key);
      if (isGenerated && answerEntries[index]) this.#record(key, answerEntries[index][0]);
      this.recordAnswer(value, isGenerated ? answerEntries[index]?.[1] : (answer as Record<string, unknown>)[key]);
    }
  }

  #record(example: string, value: string): void {
    if (!this.#fixed.has(example)) this.#actual.set(example, value);
  }
}
