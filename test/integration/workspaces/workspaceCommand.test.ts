import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { explanation } from '../../../infra/commands/operator.ts';
import {
  createVerifiedWorkspace,
  run,
  type WorkspaceCredentials,
  type WorkspaceReport,
} from '../../../infra/commands/workspace.ts';
import { environment } from '../../../lib/app/capability.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../../../lib/http/entities.ts';
import { createWorkspaces } from '../../../lib/workspaces/workspaces.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { MASTER_KEY_SECRET_ARN, startEngine, TABLE_NAME } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { storedItem } from '../../support/items.ts';
import { post } from '../../support/requests.ts';

const getOrganizations = handlerOf('/v2/organizations/get');
const getWorkspace = handlerOf('/v2/workspace/get');

const engine = forAllTests(startEngine);

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command in a new process, as an operator does. */
function operate(args: string[], env: NodeJS.ProcessEnv = process.env, name = 'workspace'): Promise<Outcome> {
  const command = fileURLToPath(new URL(`../../../infra/commands/${name}.ts`, import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [command, ...args], { env: { ...env, NODE_OPTIONS: '' } }, (error, stdout, stderr) => {
      resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr });
    });
  });
}

/** Starts a fake CloudFormation that has one stack with these outputs. */
async function startCloudFormation(stack: string, outputs: Record<string, string>): Promise<Server> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const server = createServer(
    (request, response) =>
      void (async () => {
        const stackName = new URLSearchParams(await text(request)).get('StackName');
        response.setHeader('content-type', 'text/xml');
        if (stackName === stack) {
          response.end(
            `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${stack}</StackName><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
          );
        } else {
          response
            .writeHead(400)
            .end(
              `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${stackName} does not exist</Message></Error></ErrorResponse>`,
            );
        }
      })(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.env.AWS_ENDPOINT_URL_CLOUDFORMATION = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return server;
}

describe('npm run workspace', () => {
  test('creates a verified workspace whose credentials never expire', async () => {
    const { code, stdout, stderr } = await operate(['create', 'operated@example.com', '--name', 'Operated']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const credentials = JSON.parse(stdout) as WorkspaceCredentials;
    expect(Object.keys(credentials)).toEqual(['workspaceId', 'workspaceAuthToken', 'apiKey', 'authToken']);
    const answer = await post(
      getWorkspace,
      { 'x-svc-workspace-id': credentials.workspaceId, 'x-svc-workspace-auth-token': credentials.workspaceAuthToken },
      {},
    );
    expect(answer.body.result.data).toMatchObject({
      name: 'Operated workspace',
      owner: { email: 'operated@example.com', name: 'Operated' },
    });
    const called = await post(
      getOrganizations,
      { 'x-svc-api-key': credentials.apiKey, 'x-svc-auth-token': credentials.authToken },
      {},
    );
    expect(called.status).toBe(200);
    expect((await storedItem(engine, WorkspaceEntity.key(credentials)))?.verifiedAt).toBeGreaterThan(0);
    const key = await storedItem(engine, ApiKeyEntity.key(credentials));
    expect(key).toBeDefined();
    expect(key).not.toHaveProperty('expiresAt');
  });

  test('rejects an address with a workspace', async () => {
    await createVerifiedWorkspace({
      email: 'twice@example.com',
      env: environment(process.env),
      now: 1_800_000_000_000,
    });
    await expect(run(['create', 'Twice@example.com'], process.env)).rejects.toThrow(
      /^A workspace already exists for Twice@example\.com\.$/,
    );
  });

  test.each([
    ['no arguments', [], /^Usage: npm run workspace -- create <email>/],
    ['another command', ['delete', 'ada@example.com'], /^Usage: /],
    ['no address', ['create'], /^Usage: /],
    ['too many arguments', ['create', 'ada@example.com', 'eve@example.com'], /^Usage: /],
    ['an unknown option', ['create', 'ada@example.com', '--mane', 'Ada'], /^Unknown option '--mane'.*\n\nUsage: /s],
    [
      'an option without its value',
      ['create', 'ada@example.com', '--name'],
      /^Option '--name <value>' argument missing\n\nUsage: /,
    ],
    [
      'a text that is not an address',
      ['create', 'ada'],
      /^The e-mail address "ada" is not valid: must be an e-mail address\n\nUsage: /,
    ],
    ['no argument for the command show', ['show'], /^Usage: /],
    ['a name for the command show', ['show', 'ada@example.com', '--name', 'Ada'], /^Usage: /],
    [
      'a directory without a run',
      ['show', 'ada@example.com', '--local', 'nowhere'],
      /^nowhere\/operator\.json does not exist/,
    ],
    ['an empty name', ['create', 'ada@example.com', '--name', ''], /^--name "" is not valid: .*\n\nUsage: /],
  ])('prints its usage with %s', async (_what, args, message) => {
    await expect(run(args, process.env)).rejects.toThrow(message);
  });

  const withoutAws = (names: RegExp) => ({
    ...Object.fromEntries(Object.entries(process.env).filter(([key]) => !names.test(key))),
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  });

  /** Returns what the command prints when it fails. Runs it in this process with other environment variables. */
  async function explanationOf(args: string[], env: Record<string, string | undefined>): Promise<string> {
    const replaced = jest.replaceProperty(process, 'env', env);
    try {
      return await run(args, env);
    } catch (error) {
      return explanation(error as Error);
    } finally {
      replaced.restore();
    }
  }

  test('prints which setting is missing without a region', async () => {
    const missing = 'No AWS region found. Set AWS_REGION, or set AWS_PROFILE to a profile with a region.';
    const env = withoutAws(/^AWS_|_ARN$|_URL$|^TABLE_NAME$|^SERVICE_NAME$/);
    expect(await explanationOf(['create', 'ada@example.com'], env)).toBe(missing);
    expect(await operate(['status'], env, 'deliveries')).toEqual({ code: 1, stdout: '', stderr: `${missing}\n` });
  });

  test('prints which setting is missing without credentials', async () => {
    const { code, stderr } = await operate(['create', 'ada@example.com'], {
      ...withoutAws(/^AWS_|_URL$/),
      AWS_REGION: 'us-east-1',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^No AWS credentials found\. Set AWS_PROFILE .*\n$/);
  });

  test('says what to do if the stack is unknown, or if a local run has ended', async () => {
    const service = await startCloudFormation('Old', {});
    const { TABLE_NAME: _, ...env } = process.env;
    expect(await explanationOf(['show', 'ada@example.com'], env)).toMatch(
      /^Stack with id .* does not exist in this region\. Set AWS_REGION to .* --stack\.$/,
    );
    service.close();
    service.closeAllConnections();
    delete process.env.AWS_ENDPOINT_URL_CLOUDFORMATION;
    const ended = await operate(['show', 'ada@example.com'], env);
    expect(ended.stderr).toMatch(
      /ECONNREFUSED .*\. Either the local run of --local has ended: start it again with npm start\. Or its queues are stopped: start them on \/_local\/dashboard\.\n$/,
    );
  });

  test('reports an AWS error in one line, without a stack trace', async () => {
    const { code, stdout, stderr } = await operate(['create', 'ada@example.com'], {
      ...process.env,
      TABLE_NAME: 'elsewhere',
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/table|resource/i);
  });
});

describe('npm run workspace -- show', () => {
  const show = async (subject: string) => JSON.parse(await run(['show', subject], process.env)) as WorkspaceReport;

  test('finds a workspace by owner address, id or API key, and prints no credentials', async () => {
    const made = (await createVerifiedWorkspace({
      email: 'Found@example.com',
      name: 'Found',
      env: environment(process.env),
      now: 1_800_000_000_000,
    })) as WorkspaceCredentials;
    await run(['advanced-webhooks', made.apiKey, 'off'], process.env);
    const output = await show('found@EXAMPLE.com');
    expect(output).toEqual({
      workspaceId: made.workspaceId,
      workspaceName: 'Found workspace',
      owner: { email: 'Found@example.com', name: 'Found', verified: '2027-01-15T08:00:00.000Z' },
      apiKeys: [
        {
          apiKey: made.apiKey,
          apiKeyName: expect.any(String),
          type: 'testing',
          createdAt: '2027-01-15T08:00:00.000Z',
          expiresAt: 'never',
          advancedWebhooks: 'off',
        },
      ],
    });
    expect([await show(made.workspaceId), await show(made.apiKey)]).toEqual([output, output]);
    expect(JSON.stringify(output)).not.toMatch(new RegExp(`${made.authToken}|${made.workspaceAuthToken}|oken`));
  });

  test('prints when the API keys of an unverified owner expire', async () => {
    const now = 1_800_000_000_000;
    const env = environment(process.env);
    const created = await createWorkspaces
      .open(env)
      .create({ ownerEmail: 'late@example.com', name: undefined }, { keysExpireAt: now + 1_000 }, now);
    expect(await show('late@example.com')).toMatchObject({
      owner: { verified: 'no' },
      apiKeys: [{ expiresAt: '2027-01-15T08:00:01.000Z', advancedWebhooks: 'on' }],
    });
    expect(created).not.toBe('exists');
  });

  test.each(['nobody@example.com', 'ws_none', 'key_none'])(
    'prints that no workspace exists for %s',
    async (subject) => {
      await expect(show(subject)).rejects.toThrow(
        `No workspace found: ${subject} is not the address of an owner, not a workspace id and not an API key.`,
      );
    },
  );
});

describe('the settings of npm run workspace', () => {
  const outputs = {
    TableName: TABLE_NAME,
    MasterKeySecretArn: MASTER_KEY_SECRET_ARN,
    ServiceName: 'stacked',
  };
  let cloudFormation: Server;
  afterEach(
    () =>
      new Promise((closed) => {
        cloudFormation.close(closed);
        cloudFormation.closeAllConnections();
      }),
  );

  test.each([
    ['named by --stack', 'Staging', ['--stack', 'Staging']],
    ['called CollaborationBackend by default', 'CollaborationBackend', []],
  ])('are read from the outputs of the stack %s', async (_what, stack, args) => {
    cloudFormation = await startCloudFormation(stack, outputs);
    const created = JSON.parse(await run(['create', `${stack}@example.com`, ...args], {})) as WorkspaceCredentials;
    expect(await storedItem(engine, WorkspaceEntity.key(created))).toBeDefined();
    expect(issuerOf(created.authToken)).toBe('stacked');
  });

  test('are read from the environment first, then from the stack', async () => {
    cloudFormation = await startCloudFormation('CollaborationBackend', outputs);
    const created = JSON.parse(
      await run(['create', 'mixed@example.com'], { SERVICE_NAME: 'own' }),
    ) as WorkspaceCredentials;
    expect(issuerOf(created.authToken)).toBe('own');
  });

  test('are read from the files that npm start wrote', async () => {
    cloudFormation = await startCloudFormation('CollaborationBackend', {});
    const dataDir = await mkdtemp(join(tmpdir(), 'run-'));
    const { TABLE_NAME: name, SERVICE_NAME } = process.env;
    try {
      await writeFile(
        join(dataDir, 'operator.json'),
        JSON.stringify({ TABLE_NAME: name, MASTER_KEY_SECRET_ARN, SERVICE_NAME: 'locally' }),
      );
      const created = JSON.parse(
        await run(['create', 'local@example.com', '--local', dataDir], {}),
      ) as WorkspaceCredentials;
      expect(issuerOf(created.authToken)).toBe('locally');
    } finally {
      process.env.SERVICE_NAME = SERVICE_NAME;
      await rm(dataDir, { recursive: true });
    }
  });

  test('are reported as missing if the stack or an output does not exist', async () => {
    cloudFormation = await startCloudFormation('Old', { TableName: TABLE_NAME });
    await expect(run(['create', 'x@example.com'], {})).rejects.toThrow(
      'Stack with id CollaborationBackend does not exist',
    );
    await expect(run(['create', 'x@example.com', '--stack', 'Old'], {})).rejects.toThrow(
      'Stack Old has no output MasterKeySecretArn, and MASTER_KEY_SECRET_ARN is not set.',
    );
  });
});

function issuerOf(token: string): unknown {
  return (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iss: unknown }).iss;
}

describe('createVerifiedWorkspace', () => {
  test('returns "exists" for an address with a workspace, and requires only three settings', async () => {
    const env = environment({ TABLE_NAME, MASTER_KEY_SECRET_ARN, SERVICE_NAME: 'svc' });
    const options = { email: 'demo@example.com', env, now: 1_800_000_000_000 };
    expect(await createVerifiedWorkspace(options)).toMatchObject({
      workspaceAuthToken: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(await createVerifiedWorkspace(options)).toBe('exists');
  });
});
