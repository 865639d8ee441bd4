import type { AccessRole, AccessType } from '../../../lib/app/rules/access.ts';
import { enableActivities } from '../../support/activities.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { handlerOf, restartFunctions } from '../../support/functionHandlers.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import type { Queues } from '../../support/queues.ts';
import { type Headers, post, resultOf } from '../../support/requests.ts';
import { newUser } from '../../support/userTokens.ts';

/**
 * A text that occurs once in the world and names who may read it. An answer that contains the canary of a scope which
 * the caller does not see is a leak. Hidden ids are canaries too.
 */
let canaries = 0;
export const canary = (scope: string): string => `zq${scope}q${(canaries += 1)}z`;

/** Returns the canaries in a text. */
export function canariesIn(text: string): { token: string; scope: string }[] {
  return [...text.matchAll(/zq([a-z]+)q\d+z/g)].map(([token, scope]) => ({ token, scope: scope! }));
}

/** A document that probes name. Its content has canaries of the scope `name`, or of `foreign` in the other tenant. */
export interface Place {
  readonly name: string;
  readonly organizationId: string;
  readonly documentId: string;
  readonly accessType: AccessType;
  readonly folderId?: string;
  /** False if nobody may read the document: it is deleted, unknown, or its organization is disabled. */
  readonly isOpen: boolean;
}

/** Somebody who attacks with a user token. */
export interface Attacker {
  readonly name: string;
  readonly userId: string;
  readonly headers: Headers;
  readonly tenant: 'own' | 'foreign';
  /** Whether the token is valid at all. */
  readonly isValid: boolean;
  /** The roles that count, by the name of the document or by the id of the folder or organization. */
  readonly roles: Readonly<Record<string, AccessRole>>;
  /** Scopes that the attacker sees because of something else than the roles. */
  readonly sees: readonly string[];
  /** Whether the attacker still has the thread, the reaction and the notification that the world adds. */
  readonly hasRecords: boolean;
}

/** The ids of records in the document `nda` that some attackers must not see, by kind. */
export interface Hidden {
  readonly threads: readonly string[];
  readonly reactions: readonly string[];
  readonly notifications: readonly string[];
  readonly activities: readonly string[];
  readonly comments: readonly number[];
  readonly documents: readonly string[];
  readonly folders: readonly string[];
  readonly organizations: readonly string[];
}

export interface AttackWorld {
  readonly own: Customer;
  readonly foreign: Customer;
  readonly places: readonly Place[];
  readonly attackers: readonly Attacker[];
  readonly hidden: Hidden;
  /** Ids that the other tenant has too. */
  readonly sharedIds: ReadonlySet<string>;
  /** Hidden ids that are no canaries because the service has made them, with their scope. */
  readonly otherSecrets: ReadonlyMap<string, string>;
}

/** A user of the organization whom everybody may mention. */
export const MENTIONED = 'grace';
/** The thread of the document `nda` that all its readers see, with a hidden comment. */
export const OPEN_THREAD = 'open-thread';
const HIDDEN_COMMENT = 731_900_001;
const EU = { access: { region: 'eu' } };

/** Returns the role of an attacker on a document, as the guide for customers describes it. */
export function roleOn(attacker: Attacker, place: Place): AccessRole | undefined {
  if (!attacker.isValid || attacker.tenant === 'foreign' || !place.isOpen) return undefined;
  const granted = attacker.roles[place.name] ?? attacker.roles[place.folderId ?? ''];
  const membership = attacker.roles[place.organizationId];
  if (granted) return granted;
  if (place.accessType !== 'restricted' && membership) return membership;
  return place.accessType === 'public' ? 'editor' : undefined;
}

export function seesScope({ places }: AttackWorld, attacker: Attacker, scope: string): boolean {
  if (attacker.sees.includes(scope) || attacker.roles[scope]) return attacker.isValid;
  return places.some((place) => place.name === scope && roleOn(attacker, place) !== undefined);
}

/** Returns what `work` returns. It runs with a clock that is some hours slow. */
async function hoursAgo<T>(hours: number, work: () => Promise<T>): Promise<T> {
  const now = Date.now;
  Date.now = () => now() - hours * 3_600_000;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

const place = (
  name: string,
  accessType: AccessType,
  { organizationId = 'acme', documentId = canary(name), folderId, isOpen = true }: Partial<Place> = {},
): Place => ({ name, organizationId, documentId, accessType, isOpen, ...(folderId !== undefined && { folderId }) });

const hiddenFolder = canary('buried');
const ownPlaces = [
  place('nda', 'restricted', { documentId: 'nda' }),
  place('open', 'public'),
  place('internal', 'organizationPrivate'),
  place('secret', 'restricted'),
  place('lease', 'restricted', { folderId: 'contracts' }),
  place('buried', 'restricted', { folderId: hiddenFolder }),
  place('reborn', 'restricted'),
  place('refiled', 'restricted', { folderId: 'drafts' }),
  place('refounded', 'restricted', { organizationId: 'initech' }),
  place('globexplan', 'restricted', { organizationId: 'globex' }),
  place('closed', 'organizationPrivate', { organizationId: 'closed', isOpen: false }),
];
/** Places that are deleted and created again after the attackers got their tokens. */
const rebornPlaces = ownPlaces.filter(({ name }) => ['reborn', 'refiled', 'refounded'].includes(name));
/** Places that have no content. */
const emptyPlaces = [
  place('gone', 'restricted', { isOpen: false }),
  place('unknown', 'restricted', { documentId: 'unknown', isOpen: false }),
  place('crossed', 'restricted', { organizationId: 'globex', documentId: 'nda', isOpen: false }),
  place('nowhere', 'restricted', { organizationId: 'nowhere', documentId: 'nda', isOpen: false }),
];

/** Returns the id of a user's own thread and notification in a place. The id of the own reaction begins with `re-`. */
export const ownId = (userId: string, { name }: Place): string => `own-${userId}-${name}`;

const userIds = [
  ...['viewer', 'editor', 'member', 'insider', 'eu', 'folder', 'stranger', 'admin', 'outsider', 'closed', 'lapsed'],
  ...['removed', 'left', 'reborn', 'expired'],
];

const versionIds = new Map<string, string>();
/** Returns the id of the version of the editor in a place. A place without content has none. */
export const versionIn = ({ name }: Place): string => versionIds.get(name) ?? 'ver_unknown';

/** Adds the content of a document. Texts are canaries of the scope. */
async function addContent(customer: Customer, at: Place, scope: string): Promise<void> {
  const { organizationId, documentId } = at;
  const document = { organizationId, documentId };
  const from = { userId: MENTIONED };
  await customer.ok('/v2/commentannotations/add', {
    ...document,
    commentAnnotations: [
      { annotationId: OPEN_THREAD, commentData: [{ commentText: canary(scope), from }] },
      ...userIds.map((userId) => ({
        annotationId: ownId(userId, at),
        commentData: [{ commentText: canary(scope), from: { userId } }],
      })),
    ],
  });
  await customer.ok('/v2/reactions/add', {
    ...document,
    reactions: userIds.map((userId) => ({ annotationId: `re-${ownId(userId, at)}`, icon: '👍', from: { userId } })),
  });
  for (const userId of [MENTIONED, ...userIds])
    await customer.ok('/v2/notifications/add', {
      ...document,
      ...notification(scope),
      // A user whom a notification names needs access to the document only if it is about a thread.
      notificationSource: 'comment',
      notificationSourceData: { annotationId: OPEN_THREAD },
      notificationId: ownId(userId, at),
      notifyUsers: [{ userId }],
    });
  await customer.ok('/v2/activities/add', {
    ...document,
    activities: [
      {
        featureType: 'custom',
        actionType: 'custom',
        targetEntityId: 'entity',
        actionUser: from,
        displayMessageTemplate: canary(scope),
      },
    ],
  });
  await customer.ok('/v2/livestate/broadcast', {
    ...document,
    liveStateDataId: 'state',
    data: { text: canary(scope) },
  });
  const summary = { ...document, editorId: 'summary' };
  await customer.ok('/v2/crdt/add', { ...summary, type: 'text', data: canary(scope) });
  const { versionId } = await customer.ok('/v2/crdt/versions/add', { ...summary, name: canary(scope) });
  if (scope !== 'foreign') versionIds.set(at.name, versionId);
  await customer.ok('/v2/presence/add', { ...document, users: [from] });
}

const notification = (scope: string) => ({
  actionUser: { userId: MENTIONED },
  notifyAll: false,
  displayHeadlineMessageTemplate: canary(scope),
  displayBodyMessage: canary(scope),
});

type ScopeOf = (name: string) => string;

const addOrganizations = (customer: Customer, ids: readonly string[], scopeOf: ScopeOf) =>
  customer.addOrganizations(
    ids.map((organizationId) => ({ organizationId, organizationName: canary(scopeOf(organizationId)) })),
  );

const addFolders = (customer: Customer, folders: Readonly<Record<string, string>>, scopeOf: ScopeOf) =>
  customer.addFolders(
    Object.entries(folders).map(([name, folderId]) => ({
      folderId,
      folderName: canary(scopeOf(name)),
      accessType: 'restricted',
    })),
  );

async function addPlace(customer: Customer, at: Place, scope: string): Promise<void> {
  const { organizationId, documentId, folderId, accessType } = at;
  await customer.addDocuments([{ documentId, documentName: canary(scope) }], { organizationId, folderId });
  const access = { organizationId, documentIds: [documentId], accessType };
  if (folderId === undefined) await customer.ok('/v2/organizations/documents/access/update', access);
  await customer.addUsers([MENTIONED], { organizationId });
  await addContent(customer, at, scope);
}

/** Adds the organizations, folders and documents of a tenant with their content. */
async function fillTenant(customer: Customer, scopeOf: ScopeOf): Promise<void> {
  await enableActivities(customer);
  await addOrganizations(customer, ['acme', 'globex', 'closed', 'initech'], scopeOf);
  await addFolders(customer, { contracts: 'contracts', buried: hiddenFolder, drafts: 'drafts' }, scopeOf);
  for (const at of ownPlaces) await addPlace(customer, at, scopeOf(at.name));
}

/** Adds threads, comments, reactions and notifications that most readers of the document `nda` must not see. */
async function addHidden(customer: Customer, scopeOf: ScopeOf): Promise<Hidden> {
  const nda = { organizationId: 'acme', documentId: 'nda' };
  const from = { userId: MENTIONED };
  const threads = [
    { scope: 'restricted', visibility: { type: 'restricted', userIds: [MENTIONED] } },
    { scope: 'members', visibility: { type: 'organizationPrivate' } },
    { scope: 'region', context: EU },
  ].map(({ scope, ...fields }) => ({ scope: scopeOf(scope), fields, annotationId: canary(scopeOf(scope)) }));
  await customer.untyped('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: threads.map(({ scope, fields, annotationId }) => ({
      annotationId,
      ...fields,
      metadata: { text: canary(scope) },
      commentData: [
        {
          commentText: canary(scope),
          from,
          taggedUserContacts: [{ userId: MENTIONED }],
          triggerActivities: true,
          triggerNotification: true,
        },
      ],
    })),
  });
  const region = scopeOf('region');
  await customer.ok('/v2/commentannotations/comments/add', {
    ...nda,
    annotationId: OPEN_THREAD,
    commentData: [
      { commentId: HIDDEN_COMMENT, commentText: canary(region), from: { userId: canary(region) }, context: EU },
    ],
  });
  const reactions = [
    ...threads.map(({ scope, annotationId }) => ({ scope, on: [annotationId, 1] })),
    { scope: region, on: [OPEN_THREAD, HIDDEN_COMMENT] },
  ].map(({ scope, on: [commentAnnotationId, commentId] }) => ({
    annotationId: canary(scope),
    icon: canary(scope),
    from,
    commentAnnotationId,
    commentId,
  }));
  await customer.untyped('/v2/reactions/add', { ...nda, reactions });
  const notifications = [
    { ...notification(scopeOf('restricted')), notificationId: canary(scopeOf('restricted')), notifyUsers: [from] },
    { ...notification(region), notificationId: canary(region), notifyUsers: [from], context: EU },
    ...threads.map(({ scope, annotationId }) => ({
      ...notification(scope),
      notificationId: canary(scope),
      notifyUsers: [from],
      notificationSource: 'comment',
      notificationSourceData: { annotationId },
    })),
  ];
  for (const sent of notifications) await customer.ok('/v2/notifications/add', { ...nda, ...sent });
  return {
    threads: threads.map(({ annotationId }) => annotationId),
    reactions: reactions.map(({ annotationId }) => annotationId),
    notifications: notifications.map(({ notificationId }) => notificationId),
    activities: [],
    comments: [HIDDEN_COMMENT],
    documents: ownPlaces.flatMap(({ name, documentId }) => (['secret', 'buried'].includes(name) ? [documentId] : [])),
    folders: [hiddenFolder],
    organizations: ['globex', 'closed'],
  };
}

/** Returns the ids of activities that contain a canary of a thread, with its scope. */
async function activityIds(customer: Customer): Promise<Map<string, string>> {
  const pages = await customer.pages('/v2/activities/get', { organizationId: 'acme', documentId: 'nda' });
  const found = pages.flat().flatMap((activity: { id: string; activityId?: string }) => {
    const hidden = canariesIn(JSON.stringify(activity)).find(({ scope }) =>
      ['restricted', 'members', 'region'].includes(scope),
    );
    const id = activity.activityId ?? activity.id;
    return hidden ? [[id, hidden.scope] as const] : [];
  });
  return new Map(found);
}

const resources: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    [...ownPlaces, ...emptyPlaces].map(({ name, documentId: id, organizationId }) => [
      name,
      { type: 'document', id, organizationId },
    ]),
  ),
  contracts: { type: 'folder', id: 'contracts', organizationId: 'acme' },
  acme: { type: 'organization', id: 'acme' },
  drafts: { type: 'folder', id: 'drafts', organizationId: 'acme' },
  globex: { type: 'organization', id: 'globex' },
  initech: { type: 'organization', id: 'initech' },
  closed: { type: 'organization', id: 'closed' },
};

const grantsOf = (roles: Readonly<Record<string, AccessRole>>, fields: object = {}) =>
  Object.entries(roles).map(([name, accessRole]) => ({ ...resources[name], accessRole, ...fields }));

/** Creates the world. Afterwards, no function keeps anything that it has read. */
export async function createWorld(queues: Queues): Promise<AttackWorld> {
  const [own, foreign, revoked] = [await newCustomer(), await newCustomer(), await newCustomer()];
  await fillTenant(own, (name) => name);
  await fillTenant(foreign, () => 'foreign');
  const hidden = await addHidden(own, (name) => name);
  await addHidden(foreign, () => 'foreign');
  await own.addDocuments([{ documentId: documentIdOf('gone') }]);
  const activities = await activityIds(own);
  const attackers = await createAttackers({ own, foreign, revoked }, queues);
  restartFunctions();
  return {
    own,
    foreign,
    places: [...ownPlaces, ...emptyPlaces],
    attackers,
    sharedIds: new Set([hiddenFolder, ...ownPlaces.map(({ documentId }) => documentId)]),
    hidden: { ...hidden, activities: [...activities.keys()] },
    otherSecrets: new Map([...activities, [String(HIDDEN_COMMENT), 'region']]),
  };
}

const documentIdOf = (name: string) => [...ownPlaces, ...emptyPlaces].find((place) => place.name === name)!.documentId;

async function createAttackers(
  { own, foreign, revoked }: Record<'own' | 'foreign' | 'revoked', Customer>,
  queues: Queues,
): Promise<Attacker[]> {
  const attackers: Attacker[] = [];
  /** Creates the attacker of a name. `lost` are grants of the token that do not count when the probes run. */
  async function add(
    name: string,
    {
      stored = {},
      token = {},
      lost = {},
      fields,
      ...more
    }: Partial<Attacker> & {
      stored?: Attacker['roles'];
      token?: Attacker['roles'];
      lost?: Attacker['roles'];
      fields?: object;
    } = {},
    customer = own,
  ) {
    const userId = more.userId ?? name;
    const { headers } = await newUser(customer, userId, grantsOf({ ...token, ...lost }, fields));
    if (Object.keys(stored).length > 0) await customer.grant(userId, ...grantsOf(stored, fields));
    const attacker: Attacker = {
      name,
      userId,
      headers,
      tenant: 'own',
      isValid: true,
      roles: { ...stored, ...token },
      sees: [],
      hasRecords: true,
      ...more,
    };
    attackers.push(attacker);
    return attacker;
  }

  await add('viewer', { stored: { nda: 'viewer' } });
  const editor = await add('editor', { token: { nda: 'editor' }, lost: { reborn: 'editor', gone: 'editor' } });
  await add('member', {
    stored: { acme: 'editor' },
    lost: { reborn: 'editor', drafts: 'editor', initech: 'editor', refounded: 'editor' },
  });
  await add('insider', { stored: { acme: 'editor', nda: 'viewer' }, sees: ['members'] });
  await add('eu', { stored: { nda: 'viewer' }, fields: { context: EU }, sees: ['region'] });
  await add('folder', { token: { contracts: 'viewer' }, lost: { drafts: 'editor', refiled: 'editor' } });
  await add('stranger');
  await add('outsider', { token: { globex: 'editor', globexplan: 'viewer' } });
  await add('closed', { lost: { closed: 'editor' } });
  await add('removed', { lost: { nda: 'editor' } });
  await add('left', { lost: { nda: 'editor', acme: 'editor' }, hasRecords: false });
  await add('reborn', { lost: { nda: 'editor' }, isValid: false });
  await add('foreign', { userId: 'editor', token: { nda: 'editor' }, tenant: 'foreign', sees: ['foreign'] }, foreign);
  await hoursAgo(1, () =>
    add('lapsed', { lost: { nda: 'editor' }, fields: { expiresAt: Math.floor(Date.now() / 1000) + 600 } }),
  );
  await hoursAgo(49, () => add('expired', { lost: { nda: 'editor' }, isValid: false }));
  const { token } = await own.ok('/v2/auth/generate_token', {
    userId: 'admin',
    userProperties: { name: 'admin', email: 'admin@example.com', isAdmin: true },
    permissions: { resources: [] },
  });
  attackers.push({ ...editor, name: 'admin', userId: 'admin', headers: bearer(token), roles: {} });

  await own.untyped('/v2/auth/permissions/remove', {
    userId: 'removed',
    permissions: { resources: grantsOfDocument('nda') },
  });
  await own.ok('/v2/users/delete', { organizationId: 'acme', userIds: ['left'] });
  await own.ok('/v2/users/data/delete', { userIds: ['reborn'] });
  await finishJobs(queues);
  await own.addUsers(['reborn']);
  await own.ok('/v2/organizations/access/disablestate/update', { organizationIds: ['closed'], disabled: true });
  await deleteAndCreateAgain(own);

  await revoked.addDocuments(['nda']);
  await add('revoked', { userId: 'editor', token: { nda: 'editor' }, isValid: false }, revoked);
  const { apiKey, workspaceHeaders } = revoked;
  const reset = { apiKey, revokeUserTokens: true };
  resultOf(await post(handlerOf('/v2/workspace/authtoken/reset'), workspaceHeaders, reset));
  const viewer = attackers.find(({ name }) => name === 'viewer')!;
  for (const [name, forged] of Object.entries(forgedTokens(tokenOf(editor), tokenOf(viewer))))
    attackers.push({ ...editor, name, headers: bearer(forged), isValid: false, roles: {} });
  return attackers;
}

async function deleteAndCreateAgain(customer: Customer): Promise<void> {
  const organizations = '/v2/organizations';
  const documentIds = ['reborn', 'gone', 'refiled'].map(documentIdOf);
  await customer.ok(`${organizations}/documents/delete`, { organizationId: 'acme', documentIds });
  await customer.ok(`${organizations}/folders/delete`, { organizationId: 'acme', folderId: 'drafts' });
  await customer.ok(`${organizations}/delete`, { organizationIds: ['initech'] });
  await addOrganizations(customer, ['initech'], (name) => name);
  await addFolders(customer, { drafts: 'drafts' }, (name) => name);
  for (const at of rebornPlaces) await addPlace(customer, at, at.name);
}

const grantsOfDocument = (name: string) => {
  const { accessRole: _role, ...resource } = grantsOf({ [name]: 'viewer' })[0]!;
  return [resource];
};

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const tokenOf = ({ headers }: Attacker) => headers.authorization!.slice('Bearer '.length);

/** Returns tokens that no key has signed, or that another key or another payload belongs to. */
function forgedTokens(token: string, other: string): Record<string, string> {
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const [otherHeader, otherPayload, otherSignature] = other.split('.') as [string, string, string];
  const changed = (part: string, fields: object) =>
    Buffer.from(
      JSON.stringify({ ...(JSON.parse(Buffer.from(part, 'base64url').toString()) as object), ...fields }),
    ).toString('base64url');
  return {
    'a token of another user': [otherHeader, changed(otherPayload, { sub: 'editor' }), otherSignature].join('.'),
    'a token with another signature': [header, payload, otherSignature].join('.'),
    'a token without a signature': [changed(header, { alg: 'none' }), payload, ''].join('.'),
    'a token of another algorithm': [changed(header, { alg: 'HS256' }), payload, signature].join('.'),
    'a token of another key': [changed(header, { kid: '2.0' }), payload, signature].join('.'),
    'a token with a cut signature': [header, payload, signature.slice(0, -8)].join('.'),
    'a token with a fourth part': `${token}.x`,
    'no token': 'nothing',
  };
}

/** Runs the jobs that wait in the queue to their ends. */
async function finishJobs(queues: Queues): Promise<void> {
  const runner = new JobRunner(Date.now());
  for (const { body } of queues.messagesOf('jobs')) await runner.finish(body);
  queues.clear();
}
