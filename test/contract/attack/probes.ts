import type { Endpoint } from '../../../lib/app/endpoint.ts';
import type { ActorField } from '../../../lib/app/rules/userRule.ts';
import type { Headers } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { endpoints } from '../cases.ts';
import { dataSchema } from '../contract.ts';
import { type Data, fieldPaths, inputOf, kindOfField, namedIn, withValue } from './inputs.ts';
import {
  type Attacker,
  type AttackWorld,
  type Hidden,
  MENTIONED,
  OPEN_THREAD,
  ownId,
  type Place,
  roleOn,
} from './world.ts';

/** A call of an attacker, and what must come of it. */
export interface Probe {
  readonly as: Attacker;
  readonly path: string;
  readonly data?: unknown;
  /** The body, if it is more than an object with `data`. */
  readonly body?: string;
  readonly headers?: Headers;
  /**
   * - `refusal`: an error of one of `statuses`, by default PERMISSION_DENIED
   * - `success`: all items succeed
   * - `safety`: any answer without hidden content
   */
  readonly expects: 'refusal' | 'success' | 'safety';
  readonly statuses?: readonly string[];
  /** What the message of a refusal says, if another check could refuse the call too. */
  readonly message?: RegExp;
  /** A part of a row. A choice of probes begins with one of each part. The default is the path without its version. */
  readonly part?: string;
  /** True if the answer must not be a stored one. */
  readonly isNew?: boolean;
  /** The same call with an id that does not exist. Both answers must be equal. */
  readonly twin?: { readonly data: unknown; readonly hidden: unknown; readonly unknown: unknown };
}

/** A row of the matrix. `slice` and `full` are the largest numbers of groups of probes in `npm test` and `npm run robustness`. */
export interface Row {
  readonly title: string;
  readonly slice: number;
  readonly full: number;
  readonly groups: (world: AttackWorld) => Probe[][] | Promise<Probe[][]>;
}

/** Both versions of an endpoint are one function. */
export const functionOf = (path: string): string => path.slice('/v1/'.length);

const open = endpoints.filter(({ user }) => user !== undefined);
const invalidOrDenied = ['PERMISSION_DENIED', 'INVALID_ARGUMENT'];

const named = (world: AttackWorld, name: string): Attacker => {
  const found = world.attackers.find((attacker) => attacker.name === name);
  if (!found) throw new Error(`There is no attacker ${name}`);
  return found;
};
const placeOf = (world: AttackWorld, name: string): Place => world.places.find((place) => place.name === name)!;
const withAccess = (world: AttackWorld) => ['viewer', 'editor', 'insider', 'eu'].map((name) => named(world, name));

/** Returns the groups that `make` returns for each endpoint and each of some attackers, with the data of a right call. */
const callsOf = (
  world: AttackWorld,
  names: readonly string[],
  make: (endpoint: Endpoint, as: Attacker, data: Data) => Probe[][],
  among = open,
): Probe[][] =>
  among.flatMap((endpoint) =>
    names.flatMap((name) => {
      const as = named(world, name);
      return make(endpoint, as, inputOf(endpoint, as, placeOf(world, 'nda')));
    }),
  );

/** Returns whether a call with the data of `inputOf` succeeds in a place. Undefined if the rule leaves it open. */
function mayCall({ user: rule }: Endpoint, as: Attacker, at: Place, data: Data): boolean | undefined {
  if (!as.isValid) return false;
  if (as.tenant === 'foreign') return undefined;
  const { documentIds, folderId } = namedIn(rule!, data);
  const role = roleOn(as, at);
  if (documentIds.length > 0) return role === 'editor' || (role === 'viewer' && rule!.needs !== 'editor');
  if (folderId !== undefined) return as.roles[folderId] !== undefined;
  if (rule!.needs !== 'self') return at.organizationId in as.roles;
  return undefined;
}

const matrix: Row = {
  title: 'a call succeeds or is refused by the role on what it names',
  slice: 225,
  full: 2_000,
  groups: (world) =>
    open.flatMap((endpoint) =>
      world.attackers.flatMap((as) =>
        world.places
          .filter(({ name }) => as.isValid || name === 'nda')
          .map((at): Probe[] => {
            const data = inputOf(endpoint, as, at);
            const isAllowed = mayCall(endpoint, as, at, data);
            const accepted = isAllowed === undefined || !as.hasRecords ? 'safety' : 'success';
            const expects = isAllowed === false ? 'refusal' : accepted;
            const part = expects === 'safety' ? expects : `${as.name} ${at.name}`;
            return [{ as, path: endpoint.path, data, expects, part }];
          }),
      ),
    ),
};

const headersOfOthers: Row = {
  title: 'headers with other credentials give a user token no more access',
  slice: 15,
  full: 100,
  groups: (world) =>
    open.flatMap((endpoint) =>
      ['foreign', 'viewer', 'stranger'].map((name): Probe[] => {
        const as = named(world, name);
        const at = placeOf(world, name === 'foreign' ? 'nda' : 'secret');
        const data = inputOf(endpoint, as, at);
        const { apiKey } = name === 'foreign' ? world.own : world.foreign;
        const probe: Probe = { as, path: endpoint.path, data, expects: 'safety' };
        return [
          { ...probe, headers: { 'x-svc-api-key': apiKey } },
          { ...probe, headers: { 'x-svc-api-key': apiKey, 'x-svc-auth-token': 'nothing' } },
          { ...probe, headers: { 'x-svc-workspace-id': 'nothing', 'x-svc-workspace-auth-token': 'nothing' } },
        ];
      }),
    ),
};

/** Returns the paths of the fields of a call that name records, and the kind of record: those of the call and those of the schema. */
function idFields(endpoint: Endpoint, data: Data): { path: string[]; kind: keyof Hidden; isList: boolean }[] {
  const properties = dataSchema(endpoint.path).properties ?? {};
  const known = fieldPaths(data);
  const paths = [...known, ...Object.keys(properties).flatMap((name) => (name in data ? [] : [[name]]))];
  return paths.flatMap((path) => {
    const name = path.at(-1)!;
    const kind = kindOfField(endpoint.path, name);
    if (kind === undefined || (name === 'id' && path[0] !== 'notifications')) return [];
    if (name === 'id' || path.length === 1 || known.some((other) => other.join('.') === path.join('.')))
      return [{ path, kind: kind as keyof Hidden, isList: name.endsWith('Ids') }];
    return [];
  });
}

const unknownIds: Partial<Record<keyof Hidden, string | number>> = { comments: 731_900_002 };

/** Kinds of records whose existence calls may tell. */
const withoutTwin: ReadonlySet<string> = new Set();

const hiddenIds: Row = {
  title: 'a call that names hidden records neither reads nor changes them, nor tells that they exist',
  slice: 130,
  full: 900,
  groups: (world) =>
    open
      .flatMap((endpoint) =>
        withAccess(world).flatMap((as) => {
          const data = inputOf(endpoint, as, placeOf(world, 'nda'));
          return idFields(endpoint, data).flatMap(({ path, kind, isList }) => {
            // A comment is hidden in a thread that the attacker sees.
            const base = kind === 'comments' ? inOpenThread(data) : data;
            return world.hidden[kind].flatMap((id): Probe[] => {
              const unknown = unknownIds[kind] ?? 'unknown-id';
              const call = (value: unknown, more: unknown[] = []) =>
                withValue(base, path, isList ? [value, ...more] : value);
              const part = `${functionOf(endpoint.path)} ${path.join('.')}`;
              const isNewId = path.at(-1) === 'annotationId' && path.length > 1;
              // An id that a call chooses for a new record tells that the id is taken.
              const hasTwin = !isNewId && !withoutTwin.has(kind) && isUnseen(world, as, id);
              const others = isList ? [[], valueAt(base, path)] : [[]];
              return others.map((more) => ({
                as,
                path: endpoint.path,
                data: call(id, more),
                expects: 'safety',
                part,
                ...(hasTwin && { twin: { data: call(unknown, more), hidden: id, unknown } }),
              }));
            });
          });
        }),
      )
      .map((probe) => [probe]),
};

const isUnseen = (world: AttackWorld, as: Attacker, id: string | number) => {
  const scope = /^zq([a-z]+)q/.exec(String(id))?.[1] ?? world.otherSecrets.get(String(id)) ?? String(id);
  const at = world.places.find(({ name }) => name === scope);
  return !as.sees.includes(scope) && as.roles[scope] === undefined && (!at || roleOn(as, at) === undefined);
};

function inOpenThread(data: Data): Data {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      if (key === 'annotationId') return [key, OPEN_THREAD];
      if (key === 'reactions') return [key, value.map((item: Data) => ({ ...item, commentAnnotationId: OPEN_THREAD }))];
      return [key, value];
    }),
  );
}

const valueAt = (data: unknown, path: readonly string[]): unknown[] => {
  const value = path.reduce<any>((node, key) => (key === '*' ? node?.[0] : node?.[key]), data);
  return Array.isArray(value) ? value : [];
};

/** Returns whether a call refuses records of others. Editors may resolve threads of others. */
const isForOwners = (path: string, name: string): boolean =>
  /\/(commentannotations\/delete|reactions\/delete|notifications\/update)$/.test(path) ||
  (path.endsWith('/commentannotations/update') && name !== 'editor');

const recordsOfOthers: Row = {
  title: 'a call that names visible records of another user neither changes their texts nor deletes them',
  slice: 30,
  full: 120,
  groups: (world) =>
    open
      .filter(({ kind }) => kind === 'write')
      .flatMap((endpoint) =>
        ['viewer', 'editor', 'insider'].flatMap((name) => {
          const as = named(world, name);
          const at = placeOf(world, 'nda');
          const text = JSON.stringify(inputOf(endpoint, as, at));
          const own = ownId(as.userId, at);
          if (!text.includes(own)) return [];
          return [ownId('stranger', at), OPEN_THREAD].map((record): Probe[] => [
            {
              as,
              path: endpoint.path,
              data: JSON.parse(text.replaceAll(own, record)),
              expects: isForOwners(endpoint.path, name) ? 'refusal' : 'safety',
              part: `${functionOf(endpoint.path)} ${name}`,
            },
          ]);
        }),
      ),
};

const filters: Row = {
  title: 'a listing with any filter leaves out hidden records',
  slice: 145,
  full: 250,
  groups: (world) =>
    open
      .filter(({ kind }) => kind === 'read')
      .flatMap((endpoint) =>
        ['viewer', 'editor', 'member', 'insider', 'eu', 'folder', 'outsider', 'stranger'].flatMap((name) => {
          const as = named(world, name);
          const schema = dataSchema(endpoint.path).properties ?? {};
          const selectors = [...Object.keys(schema).filter((field) => field !== 'organizationId'), undefined];
          const organization = { organizationId: 'acme' };
          const here = { ...organization, documentId: 'nda' };
          return selectors.flatMap((field): Probe[] => {
            const probe = {
              as,
              path: endpoint.path,
              expects: 'safety',
              part: `${field === undefined ? name : ''} ${functionOf(endpoint.path)}`,
            } as const;
            const values = field === undefined ? [{}] : filterValues(field).map((value) => ({ [field]: value }));
            return values.flatMap((filter) => [
              { ...probe, data: { ...organization, ...filter } },
              { ...probe, data: { ...('documentIds' in schema ? {} : here), ...organization, ...filter } },
              {
                ...probe,
                data: { ...organization, ...('documentIds' in schema && { documentIds: ['nda'] }), ...filter },
              },
            ]);
          });
        }),
      )
      .map((probe) => [probe]),
};

/** Returns values of a filter with which a listing has hidden records, if it does not check each record. */
function filterValues(field: string): unknown[] {
  if (/user|by$/i.test(field)) return field.endsWith('s') ? [[MENTIONED], []] : [MENTIONED];
  if (/^(folderId|locationId)$/.test(field)) return ['root', 'contracts'];
  if (/after$/i.test(field)) return [0, 1];
  if (/before$/i.test(field)) return [4_102_444_800_000];
  if (field === 'pageSize') return [1, 1_000];
  if (field === 'order') return ['asc', 'desc'];
  if (field === 'searchKey') return ['zq', 'a', '@'];
  if (field === 'maxDepth') return [10];
  if (field.endsWith('Ids') || field.endsWith('Types')) return [['custom', 'OPEN', 'comment']];
  return [true];
}

/** Returns forms of an actor field that name another user. */
function otherActors({ holds }: ActorField, self: string): { value: unknown; statuses?: readonly string[] }[] {
  const others = [MENTIONED, 'nobody', `${self} `, self.toUpperCase()];
  const wrongTypes = (values: unknown[]) => values.map((value) => ({ value, statuses: invalidOrDenied }));
  switch (holds) {
    case 'userId':
      return [...others.map((value) => ({ value })), ...wrongTypes([[MENTIONED], { userId: MENTIONED }])];
    case 'userIds':
      return [
        ...others.map((id) => ({ value: [id] })),
        ...others.map((id) => ({ value: [self, id] })),
        ...wrongTypes([MENTIONED, [[MENTIONED]], [{ userId: MENTIONED }]]),
      ];
    case 'user':
      return [
        ...others.map((userId) => ({ value: { userId } })),
        { value: { userId: MENTIONED, name: self } },
        ...wrongTypes([MENTIONED, [{ userId: MENTIONED }], { userId: [MENTIONED] }]),
      ];
    case 'users':
      return [
        ...others.map((userId) => ({ value: [{ userId }] })),
        ...others.map((userId) => ({ value: [{ userId: self }, { userId }] })),
        ...wrongTypes([{ userId: MENTIONED }, [MENTIONED], [{ userId: [MENTIONED] }]]),
      ];
  }
}

const actors: Row = {
  title: 'a field for the acting user refuses every other user, and nothing is stored',
  slice: 50,
  full: 500,
  groups: (world) =>
    callsOf(world, ['viewer', 'editor', 'insider'], (endpoint, as, data) => {
      const known = dataSchema(endpoint.path).properties ?? {};
      return (endpoint.user!.actor ?? []).flatMap((field) =>
        otherActors(field, as.userId).map(({ value, statuses }): Probe[] => {
          const path = field.path.split('.');
          // One version of an endpoint ignores a field of the other, but reads a name of another user in it.
          const isRead = statuses === undefined || path[0]! in known;
          return [
            {
              as,
              path: endpoint.path,
              data: withValue(data, path, value),
              expects: isRead ? 'refusal' : 'safety',
              part: statuses ? 'another type' : `${functionOf(endpoint.path)} ${field.path}`,
              ...(statuses ? { statuses } : { message: /names another user/ }),
            },
          ];
        }),
      );
    }),
};

const serverFields: Row = {
  title: 'a field that only servers may send is refused',
  slice: 15,
  full: 150,
  groups: (world) =>
    callsOf(world, ['viewer', 'editor'], (endpoint, as, data) =>
      (endpoint.user!.refuses ?? []).flatMap((field) =>
        [true, [MENTIONED], { userId: MENTIONED }].map((value): Probe[] => [
          {
            as,
            path: endpoint.path,
            data: withValue(data, field.split('.'), value),
            expects: 'refusal',
            message: /is for API keys/,
          },
        ]),
      ),
    ),
};

const spellings = (id: string) => [
  ...[` ${id}`, `${id} `, id.toUpperCase(), `${id}\u0000`, `${id}#`, `${id}/`, `../${id}`, `${id}%00`, `${id}\u200b`],
  ...[
    `#ORGANIZATION#${id}`,
    `T#${id}`,
    id.replace('n', 'ｎ'),
    '__proto__',
    'constructor',
    '*',
    '',
    'root',
    'x'.repeat(5_000),
  ],
];

const otherSpellings: Row = {
  title: 'no other spelling of an id reaches a document',
  slice: 30,
  full: 250,
  groups: (world) =>
    callsOf(world, ['editor', 'insider'], (endpoint, as, data) => {
      const fields = [['documentId'], ['documentIds', '*']].filter(([field]) => field! in data);
      const isNamed = namedIn(endpoint.user!, data).documentIds.length > 0;
      return fields.flatMap((path) =>
        spellings('nda').map((id): Probe[] => [
          {
            as,
            path: endpoint.path,
            data: withValue(data, path, id),
            expects: isNamed ? 'refusal' : 'safety',
            statuses: invalidOrDenied,
          },
        ]),
      );
    }),
};

const hostileValues: unknown[] = [
  ...['', '__proto__', 'constructor', '\u0000', '\ud800', 'ü'.repeat(20_000)],
  ...[0, -1, 0.5, 1e308, 2 ** 53, true, null, [], {}, [[]], [null], { length: 1 }],
  times(1_000, (index) => `id-${index}`),
  times(40, (level) => level).reduce<unknown>((inner) => ({ a: inner }), {}),
];

const hostile: Row = {
  title: 'a hostile value in any field does no harm',
  slice: 40,
  full: 300,
  groups: (world) =>
    callsOf(world, ['editor'], (endpoint, as, data) =>
      fieldPaths(data).flatMap((path) =>
        hostileValues.map((value): Probe[] => [
          { as, path: endpoint.path, data: withValue(data, path, value), expects: 'safety' },
        ]),
      ),
    ),
};

const bodies: Row = {
  title: 'prototype keys, repeated keys and repeated ids give no more access',
  slice: 30,
  full: 200,
  groups: (world) =>
    callsOf(world, ['viewer'], (endpoint, as, data) => {
      const secret = placeOf(world, 'secret');
      const text = JSON.stringify(data).slice(1);
      const id = JSON.stringify(secret.documentId);
      const prototype = '{"userId":"grace","role":"editor","level":"apiKey","documentId":' + id + '}';
      const caller = '{"level":"apiKey","tenant":"' + world.foreign.apiKey + '","user":{"userId":"grace"}}';
      const safe = (body: string): Probe[] => [{ as, path: endpoint.path, body, expects: 'safety' }];
      const groups = [
        safe(`{"data":{"__proto__":${prototype},${text}}`),
        safe(`{"__proto__":{"caller":${caller}},"data":{${text}}`),
        safe(`{"data":{"constructor":{"prototype":${prototype}},${text}}`),
        safe(`{"data":{${text},"caller":${caller},"user":${caller}}`),
        safe(`{"data":{"documentId":${id},${text}}`),
        safe(`{"data":{${text.replace(/}$/, `,"documentId":${id}}`)}}`),
        safe(`{"data":{},"data":{${text}}`),
      ];
      const lists = fieldPaths(data).filter((path) => path.at(-1)!.endsWith('Ids'));
      for (const path of lists) {
        const repeated = valueAt(data, path).flatMap((value) => times(3, () => value));
        groups.push([{ as, path: endpoint.path, data: withValue(data, path, repeated), expects: 'safety' }]);
      }
      return groups;
    }),
};

/** The endpoints with pages. */
const listings = open.filter(({ path }) => 'pageToken' in (dataSchema(path).properties ?? {}));

const pageTokens: Row = {
  title: 'a page token of another caller, listing or tenant is refused',
  slice: 15,
  full: 100,
  groups: async (world) => {
    const [viewer, editor, foreign] = ['viewer', 'editor', 'foreign'].map((name) => named(world, name)) as [
      Attacker,
      Attacker,
      Attacker,
    ];
    const first = (endpoint: Endpoint): Data => {
      const { annotationIds: _ids, notificationIds: _more, ...data } = inputOf(endpoint, viewer, placeOf(world, 'nda'));
      const {
        commentIds: _comments,
        liveStateDataIds: _states,
        userIds: _users,
        documentIds,
        userId: _user,
        ...others
      } = data;
      return { ...others, ...(endpoint.user!.on === 'documents' && { documentIds }), pageSize: 1 };
    };
    const found: { endpoint: Endpoint; data: Data; tokens: Record<string, string> }[] = [];
    for (const endpoint of listings) {
      const data = first(endpoint);
      const tokenOf = async (headers: Headers) => {
        const { body } = await world.own.call(endpoint.path, data, headers);
        return (body.result?.nextPageToken ?? body.result?.pageToken) as string | undefined;
      };
      const noKey = { 'x-svc-api-key': '', 'x-svc-auth-token': '' };
      const tokens = {
        server: await tokenOf({}),
        viewer: await tokenOf({ ...noKey, ...viewer.headers }),
        editor: await tokenOf({ ...noKey, ...editor.headers }),
        foreign: await tokenOf({ ...noKey, ...foreign.headers }),
      };
      const known = Object.entries(tokens).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
      found.push({ endpoint, data, tokens: Object.fromEntries(known) });
    }
    return found.flatMap(({ endpoint: { path }, data, tokens: { viewer: ownToken, ...others } }) => {
      const refused = (pageToken: string): Probe[] => [
        { as: viewer, path, data: { ...data, pageToken }, expects: 'refusal', statuses: invalidOrDenied },
      ];
      const ofOtherListings = found.flatMap(({ endpoint, tokens }) =>
        endpoint.path === path ? [] : (tokens.viewer ?? []),
      );
      const groups = [...Object.values(others), ...ofOtherListings, 'nothing', '', 'AAAA'].map(refused);
      if (ownToken === undefined) return groups;
      const changed = `${ownToken[0] === 'A' ? 'B' : 'A'}${ownToken.slice(1)}`;
      groups.push(refused(changed), refused(ownToken.slice(0, -4)));
      groups.push([{ as: viewer, path, data: { ...data, pageToken: ownToken }, expects: 'success' }]);
      return groups;
    });
  },
};

const idempotencyKeys: Row = {
  title: "an Idempotency-Key of another caller does not return that caller's answer",
  slice: 10,
  full: 60,
  groups: (world) =>
    open
      .filter(({ kind }) => kind === 'write')
      .map((endpoint, index) => {
        const at = placeOf(world, 'nda');
        const [editor, viewer] = [named(world, 'editor'), named(world, 'viewer')];
        const headers = { 'idempotency-key': `attack-${index}` };
        const data = inputOf(endpoint, editor, at);
        const call = (as: Attacker, sent: Data, expects: Probe['expects']): Probe => ({
          as,
          path: endpoint.path,
          data: sent,
          headers,
          expects,
          isNew: true,
        });
        return [
          call(editor, data, 'success'),
          call(viewer, inputOf(endpoint, viewer, at), 'safety'),
          call(named(world, 'stranger'), data, endpoint.user!.needs === 'self' ? 'safety' : 'refusal'),
          call(named(world, 'no token'), data, 'refusal'),
          call(named(world, 'foreign'), data, 'safety'),
        ];
      }),
};

export const rows: readonly Row[] = [
  matrix,
  headersOfOthers,
  hiddenIds,
  recordsOfOthers,
  filters,
  actors,
  serverFields,
  otherSpellings,
  hostile,
  bodies,
  pageTokens,
  idempotencyKeys,
];
