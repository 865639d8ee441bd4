import { describe, expect, test } from '@jest/globals';
import { type FieldTree, fieldTree } from '../../lib/shared/unknownFields.ts';
import { warningsOf } from '../../lib/workspaces/rules/storedOnly.ts';
import { endpoints } from './cases.ts';
import { documentedFields, sampleOf } from './documentedFields.ts';
import { fieldsOf } from './fields.ts';

/** Fields that schemas do not declare, or that have no effect. Each pattern is of a path with a field, as in the failure. */
const exceptions = {
  'open objects: the field is stored':
    /(\.any|anyFieldOfTheCustomer|\.status\.(name|color))$|strategyOptions\.[a-z-]+\.\w+$/,
  'users have rights from grants and membership from usergroups':
    /\.(organizationId|isAdmin|isReadOnly|isAnonymous|isGuest|groupId)$/,
  'the profile of a reviewer is an id, a name and an address':
    /^\/v2\/memory\/judgments\/add .*actionUser\.(photoUrl|color|textColor|initial|type|plan)$/,
  'this service sends no messages to channels of customers': /^\/v2\/notifications\/config\/set config\.ownChannel$/,
  'the name of the service begins the field': /^\/v2\/users\/data\/get svc(UserIds|AllOrganizations)$/,
  'this service stores agents, and does not run them':
    /^\/v2\/agents\/(create|update|version\/update) (enabled|rawInstructions|instructions|phaseTimeoutMs|contextGathering|execution|response|postProcess|input|scope|setup)\b/,
  'the thread must exist, and with it its document':
    /^\/v2\/commentannotations\/comments\/add create(Organization|Document)$/,
  'the facts say that it is ignored': /^\/v2\/workspace\/apikey\/copy created$/,
  'fields of operators':
    /^\/v2\/workspace\/apikey\/create (planInfo|customPlanInfo|customPlanInfoData|workspaceId|isSuperWorkspace|platform)$/,
  'settings without a published meaning, or of features that do not exist':
    /^\/v2\/workspace\/apikey(\/create|config\/update) (enablePrivateComments|requireJwtToken|requireAutoOrgUser|aiModelApiKey)\b/,
  'permission providers are not called': /^\/v2\/workspace\/permissionproviderconfig\/update /,
} as const;
const used = new Set<string>();

function isException(field: string): boolean {
  const reasons = Object.entries(exceptions).filter(([, pattern]) => pattern.test(field));
  for (const [reason] of reasons) used.add(reason);
  return reasons.length > 0;
}

/** Yields the path of each documented field, and whether the schema has a field of this name there. */
function* documented(tree: FieldTree | undefined, sample: unknown, at: string): Generator<[string, boolean]> {
  // A value without a tree is stored as it was sent.
  if (tree === undefined || typeof sample !== 'object' || sample === null) return;
  if (tree.kind === 'list') return yield* documented(tree.item(), (sample as unknown[])[0], at);
  if (tree.kind === 'union') return yield* documented(tree.options[0]?.(), sample, at);
  for (const [name, value] of Object.entries(sample)) {
    const path = at === '' ? name : `${at}.${name}`;
    const field = tree.kind === 'object' ? tree.fields.get(name) : tree.value;
    yield [path, field !== undefined];
    yield* documented(field?.(), value, path);
  }
}

/** The fields of all requests, each with its text. */
const texts = endpoints.flatMap((endpoint) =>
  fieldsOf(endpoint).map(({ at, text }) => {
    const field = at.filter((part) => typeof part === 'string').join('.');
    return { ...endpoint, field, text };
  }),
);

/** Text of a field that never has an effect. Other texts name the request or the caller for which it has none. */
const NO_EFFECT = /Ignored:|[Nn]o effect yet|Without effect, because|accepted, and without effect|have no effect/;

function nested(path: string, value: unknown): object {
  return path.split('.').reduceRight((inner: any, name) => ({ [name]: inner }), value);
}

test('a setting without effect gives a warning in the answer of each call that takes it', () => {
  const settings = texts.filter(({ text }) => text.includes('Stored, no effect yet.'));
  const ofWorkspaces = settings.filter(({ path }) => path.startsWith('/v2/workspace/'));
  expect(ofWorkspaces.length).toBeGreaterThanOrEqual(13);
  for (const { path, field } of ofWorkspaces) {
    const { output } = endpoints.find((endpoint) => endpoint.path === path)!;
    const answer = fieldTree(output);
    expect([path, answer?.kind === 'object' && answer.fields.has('warnings')]).toEqual([path, true]);
    expect(warningsOf(nested(field, 'on')).warnings).toMatchObject([{ field }]);
  }
});

describe('each documented field', () => {
  test('is declared by its schema, unless an exception has the reason', () => {
    const undeclared = Object.entries(documentedFields).flatMap(([path, fields]) => {
      const { input } = endpoints.find((endpoint) => endpoint.path === path)!;
      return [...documented(fieldTree(input), sampleOf(fields), '')]
        .filter(([, isDeclared]) => !isDeclared)
        .map(([field]) => `${path} ${field}`);
    });
    expect(undeclared.filter((field) => !isException(field))).toEqual([]);
  });

  test('has an effect by its text, unless an exception has the reason', () => {
    const ineffective = texts
      .filter(({ twinOf, text }) => twinOf === undefined && NO_EFFECT.test(text))
      .map(({ path, field }) => `${path} ${field}`);
    expect(ineffective.length).toBeGreaterThan(40);
    expect(ineffective.filter((field) => !isException(field))).toEqual([]);
  });

  test('needs each exception', () => {
    expect(Object.keys(exceptions).filter((reason) => !used.has(reason))).toEqual([]);
  });
});
