import { beforeAll, describe, expect, test } from '@jest/globals';
import { registeredEndpoints, registeredWorkers } from '../../infra/build/registry.ts';
import { endpointId } from '../../lib/app/endpoint.ts';
import { workerId } from '../../lib/app/worker.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import {
  type Assembly,
  assemblyOf,
  functionOf,
  functionsOf,
  pairsOf,
  type Resource,
  resources,
  roleOf,
  statementsOf,
  synthesised,
  templateTexts,
} from './assembly.ts';
import { expectedEnvironment, grantedPairs } from './expected.ts';

const liveEndpoints = registeredEndpoints().filter((endpoint) => 'requires' in endpoint);
const liveWorkers = registeredWorkers().filter(({ requires }) => requires === 'live');
let assembly: Assembly;
beforeAll(() => {
  assembly = assemblyOf(registeredEndpoints(), { live: 'on' }, { workers: registeredWorkers() });
});

const ofType = (type: string) => resources(assembly.templates, type);

describe('the setting live', () => {
  test('adds nothing to the templates if it is off', () => {
    const isKept = ({ requires }: { readonly requires?: string }) => requires === undefined;
    // Endpoints of `livestate` accept user tokens without the setting, like many others.
    const endpoints = registeredEndpoints().filter(({ path }) => path.startsWith('/v2/live'));
    const [off, without] = [() => true, isKept].map((filter) => {
      const workers = registeredWorkers().filter(filter);
      return templateTexts(synthesised(endpoints.filter(filter), { live: 'off' }, { workers }).outdir);
    }) as [Map<string, string>, Map<string, string>];
    expect(off).toEqual(without);
    expect([...off.values()].join()).not.toMatch(/appsync|LIVE_HTTP|PublishLive|v2\/live\//i);
  });

  test('lets users connect and subscribe through the authorizer, and publish in the namespace live only', () => {
    const [[, api]] = ofType('AWS::AppSync::Api') as [[string, Resource]];
    const { AuthProviders, ConnectionAuthModes, DefaultPublishAuthModes } = api.Properties.EventConfig;
    expect(AuthProviders).toMatchObject([
      { AuthType: 'AWS_LAMBDA', LambdaAuthorizerConfig: { AuthorizerResultTtlInSeconds: 0 } },
      { AuthType: 'AWS_IAM' },
    ]);
    expect([ConnectionAuthModes, DefaultPublishAuthModes]).toEqual([
      [{ AuthType: 'AWS_LAMBDA' }],
      [{ AuthType: 'AWS_IAM' }],
    ]);
    const modes = Object.fromEntries(
      ofType('AWS::AppSync::ChannelNamespace').map(([, { Properties }]) => [Properties.Name, Properties]),
    );
    expect([ofType('AWS::AppSync::Api').length, Object.keys(modes)]).toEqual([1, ['live', 'user']]);
    expect(modes.live.PublishAuthModes).toEqual([{ AuthType: 'AWS_LAMBDA' }, { AuthType: 'AWS_IAM' }]);
    expect(modes.user.PublishAuthModes).toEqual([{ AuthType: 'AWS_IAM' }]);
    for (const name of ['live', 'user']) expect(modes[name].SubscribeAuthModes).toEqual([{ AuthType: 'AWS_LAMBDA' }]);
  });

  test('lets only AppSync call the authorizer, and only for this API', () => {
    const permissions = ofType('AWS::Lambda::Permission').filter(
      ([, { Properties }]) => Properties.Principal === 'appsync.amazonaws.com',
    );
    expect(permissions).toHaveLength(1);
    expect(JSON.stringify(permissions[0]![1].Properties.SourceArn)).toContain('ApiArn');
  });

  test('lets only the worker PublishLive publish, and only to the two namespaces', () => {
    const publishing = ofType('AWS::IAM::Role').filter(([, role]) => JSON.stringify(role).includes('appsync:'));
    expect(publishing.map(([id]) => id)).toEqual([expect.stringMatching(/^PublishLive/)]);
    const statements = publishing[0]![1].Properties.Policies[0].PolicyDocument.Statement as {
      Action: string;
      Resource: unknown[];
    }[];
    const granted = statements.filter(({ Action }) => JSON.stringify(Action).includes('appsync:'));
    expect(granted).toMatchObject([{ Action: 'appsync:EventPublish' }]);
    expect(JSON.stringify(granted[0]!.Resource)).toMatch(/channelNamespace\/live.*channelNamespace\/user/);
  });

  test.each([
    ...liveEndpoints.map((endpoint) => [endpointId(endpoint.path), capabilitiesOf(endpoint)] as const),
    ...liveWorkers.map((worker) => [workerId(worker.name), workerCapabilities(worker)] as const),
  ])('gives the function %s exactly the permissions and variables of its capabilities', (id, capabilities) => {
    const template = assembly.templates.find((each) =>
      functionsOf(each).some(([, { Properties }]) => Properties.Code.ZipFile === id),
    )!;
    const [, resource] = functionOf(template, id);
    // The other tests of this file expect the permissions for the stream and for AppSync, and the variables of the Event API.
    const isTested = (pair: string) => !/stream|appsync|StreamDeadLetters| logs:/.test(pair);
    expect(pairsOf(statementsOf(roleOf(template, resource))).filter(isTested)).toEqual(
      [...new Set(grantedPairs(capabilities))].filter((pair) => !pair.includes('EventPublish')),
    );
    const { LIVE_HTTP_HOST, LIVE_REALTIME_HOST } = resource.Properties.Environment.Variables;
    expect({ ...expectedEnvironment(capabilities), LIVE_HTTP_HOST, LIVE_REALTIME_HOST }).toEqual({
      LIVE_HTTP_HOST,
      LIVE_REALTIME_HOST,
      ...resource.Properties.Environment.Variables,
    });
  });

  test('filters the stream for the worker PublishLive: changes, new jobs and three kinds of removals', () => {
    const mapping = ofType('AWS::Lambda::EventSourceMapping').find(([id]) => id.startsWith('PublishLive'))!;
    const filters = (mapping[1].Properties.FilterCriteria.Filters as { Pattern: string }[]).map(
      ({ Pattern }) => JSON.parse(Pattern) as { eventName: string[] },
    );
    expect(filters.length).toBeLessThanOrEqual(5);
    expect(filters.map(({ eventName }) => eventName)).toEqual([
      ['INSERT', 'MODIFY'],
      ['INSERT'],
      ['REMOVE'],
      ['REMOVE'],
      ['REMOVE'],
    ]);
    for (const { Pattern } of mapping[1].Properties.FilterCriteria.Filters) expect(Pattern.length).toBeLessThan(4096);
  });

  test('gives the hosts of the Event API to the functions Connect and PublishLive only', () => {
    const functions = ofType('AWS::Lambda::Function').filter(
      ([, { Properties }]) => 'LIVE_HTTP_HOST' in (Properties.Environment?.Variables ?? {}),
    );
    expect(functions.map(([id]) => id).sort()).toEqual(['Connect', 'PublishLive']);
    for (const [, { Properties }] of functions)
      expect(JSON.stringify(Properties.Environment.Variables.LIVE_REALTIME_HOST)).toMatch(/Realtime|Live/);
  });
});
