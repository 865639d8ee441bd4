import { beforeAll, describe, expect, test } from '@jest/globals';
import { assemblySettings } from '../../infra/local/assembly/assemblySettings.ts';
import { endpointId, familyOf } from '../../lib/app/endpoint.ts';
import { isTwin, PREFLIGHT_ROUTE, type Routed, routeKey, routeKeys } from '../../lib/app/page.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import {
  type Assembly,
  assemblyOf,
  functionBehind,
  functionsOf,
  functionsWithRoleOf,
  list,
  pairsOf,
  resources,
  roleOf,
  type Statement,
  statementsOf,
} from './assembly.ts';
import { greedy, registered } from './endpoints.ts';
import { arnOf, complete, expectedEnvironment, grantedPairs, joined, logPairs, mailArns } from './expected.ts';

const endpoints = [...registered, greedy];
let assembly: Assembly;
beforeAll(() => {
  assembly = assemblyOf(endpoints, complete);
});

/** Returns the endpoint path of the function that handles a request path. */
const functionPath = (endpoint: Routed) => (isTwin(endpoint) ? endpoint.twinOf : endpoint.path);

describe.each(endpoints.map((endpoint) => [endpoint.path, endpoint] as const))('%s', (path, endpoint) => {
  const find = () => {
    const template = assembly.families.get(familyOf(functionPath(endpoint)))!;
    const [id, resource] = functionBehind(template, routeKey(endpoint));
    return { template, id, resource };
  };

  test('has its routes and its own code. A twin has the code of the original endpoint', () => {
    expect(find().resource.Properties.Code).toEqual({ ZipFile: endpointId(functionPath(endpoint)) });
    const everywhere = resources(assembly.templates, 'AWS::ApiGatewayV2::Route');
    expect(
      everywhere.filter(([, { Properties }]) => Properties.RouteKey.replace('/{page}', '').split(' ')[1] === path),
    ).toHaveLength(routeKeys(endpoint).length);
  });

  test('has exactly the environment variables of its capabilities', () => {
    expect(find().resource.Properties.Environment.Variables).toEqual(expectedEnvironment(capabilitiesOf(endpoint)));
  });

  test('has exactly the permissions of its capabilities and of its log', () => {
    const { template, resource } = find();
    const expected = [
      ...logPairs(resource.Properties.LoggingConfig.LogGroup.Ref),
      ...grantedPairs(capabilitiesOf(endpoint)),
    ];
    expect(pairsOf(statementsOf(roleOf(template, resource)))).toEqual([...new Set(expected)].sort());
  });

  test('has its own role', () => {
    const { template, id, resource } = find();
    expect(functionsWithRoleOf(template, resource)).toEqual([id]);
  });

  test('has the declared memory and timeout', () => {
    const { memoryMb = 1_024, timeoutSeconds = 29 } = 'output' in endpoint ? endpoint : {};
    expect(find().resource.Properties).toMatchObject({ MemorySize: memoryMb, Timeout: timeoutSeconds });
  });
});

/** Returns the policy statements that allow an action to a function with all capabilities, for these settings. */
function statementsWith(action: string, settings: object): Statement[] {
  const template = assemblyOf([greedy], settings).families.get('v2/everything')!;
  return statementsOf(roleOf(template, functionBehind(template, `POST ${greedy.path}`)[1])).filter(({ Action }) =>
    list(Action).includes(action),
  );
}

describe('the permissions to call a model', () => {
  test.each(['eu', 'apac', 'global', 'us-gov'])(
    'allow the inference profile of %s, and its model in every region',
    (prefix) => {
      const model = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
      const settings = { claudeModelId: `${prefix}.${model}`, embeddingModel: 'lexical' };
      const arn = (...parts: unknown[]) => joined('arn:', { Ref: 'AWS::Partition' }, ...parts);
      expect(statementsWith('bedrock:InvokeModel', settings).map(({ Resource }) => Resource)).toEqual([
        [
          arn(
            ':bedrock:',
            { Ref: 'AWS::Region' },
            ':',
            { Ref: 'AWS::AccountId' },
            `:inference-profile/${prefix}.${model}`,
          ),
          arn(`:bedrock:*::foundation-model/${model}`),
        ],
      ]);
    },
  );

  test('are missing in the local run, which has no models', () => {
    const settings = { claudeModelId: 'eu.anthropic.claude-opus-4-8', novaModelId: 'eu.amazon.nova-pro-v1:0' };
    expect(statementsWith('bedrock:InvokeModel', settings)).toHaveLength(3);
    expect(
      statementsWith('bedrock:InvokeModel', { ...settings, ...assemblySettings({ hasHeartbeat: false }) }),
    ).toEqual([]);
  });
});

describe('the mail permissions', () => {
  const mailStatements = (settings: object) => statementsWith('ses:SendEmail', settings);

  test('allow sending from the identity in the settings only, with the default configuration set of the identity', () => {
    expect(
      mailStatements({ mailFrom: 'no-reply@mail.example.com', mailIdentity: 'example.com' }).map(
        ({ Resource }) => Resource,
      ),
    ).toEqual([mailArns('example.com')]);
  });

  test('allow in the local run its own sender address, whatever the settings of the deployment are', () => {
    const settings = { mailFrom: 'no-reply@app.acme.test', mailIdentity: 'acme.test' };
    const local = { ...settings, ...assemblySettings({ hasHeartbeat: false }) };
    expect(mailStatements(local).map(({ Resource }) => Resource)).toEqual([mailArns('example.com')]);
  });

  test('are missing without the setting mailFrom, and the deployment works', () => {
    expect(mailStatements({ mailFrom: undefined })).toEqual([]);
    const linking = registered.filter(({ path }) => path === '/v2/workspace/email/send-login-link');
    const template = assemblyOf(linking).families.get('v2/workspace')!;
    const [, { Properties }] = functionBehind(template, routeKey(linking[0]!));
    expect(Properties.Environment.Variables.MAIL_FROM).toBe('');
  });
});

describe('the HTTP API', () => {
  test('has the registered routes and $default, and no others', () => {
    const keys = resources(assembly.templates, 'AWS::ApiGatewayV2::Route').map(
      ([, { Properties }]) => Properties.RouteKey,
    );
    expect(keys.sort()).toEqual(['$default', PREFLIGHT_ROUTE, ...endpoints.flatMap(routeKeys)].sort());
  });

  test('sends unknown routes to a function that may only write its log', () => {
    const [, resource] = functionBehind(assembly.root, '$default');
    expect(resource.Properties.Code).toEqual({ ZipFile: 'default' });
    expect(resource.Properties.Environment.Variables).toEqual({ SERVICE_NAME: 'svc' });
    expect(
      pairsOf(statementsOf(roleOf(assembly.root, resource))).every((pair) =>
        / logs:(CreateLogStream|PutLogEvents)$/.test(pair),
      ),
    ).toBe(true);
  });

  test('calls functions under one role per stack, which allows exactly the functions of the stack', () => {
    for (const template of [assembly.root, ...assembly.families.values()]) {
      const integrations = resources(template, 'AWS::ApiGatewayV2::Integration');
      const roles = new Set(
        integrations.map(([, { Properties }]) => Properties.CredentialsArn['Fn::GetAtt'][0] as string),
      );
      expect(roles.size).toBe(1);
      const [statement, ...more] = statementsOf(template.Resources[[...roles][0]!]!);
      expect(more).toEqual([]);
      expect(statement!.Action).toBe('lambda:InvokeFunction');
      expect(
        list(statement!.Resource)
          .map((resource) => JSON.stringify(resource))
          .sort(),
      ).toEqual(
        functionsOf(template)
          .map(([id]) => JSON.stringify(arnOf(id)))
          .sort(),
      );
    }
  });

  test('uses payload format 2.0 and waits 30 s for a function', () => {
    for (const [, { Properties }] of resources(assembly.templates, 'AWS::ApiGatewayV2::Integration')) {
      expect(Properties).toMatchObject({
        ApiId: { Ref: 'Api' },
        IntegrationType: 'AWS_PROXY',
        PayloadFormatVersion: '2.0',
        TimeoutInMillis: 30_000,
      });
    }
  });
});
