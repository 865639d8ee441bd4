import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { messageOf } from '../../../infra/commands/operator.ts';
import { ALARM, setAlarm } from '../../../infra/commands/smoke/alarm.ts';
import { ExampleValues } from '../../../infra/commands/smoke/examples.ts';
import { smokeOptions } from '../../../infra/commands/smoke/options.ts';
import { type Receiver, startHttp } from '../../support/receivers.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

describe('smokeOptions', () => {
  test('returns the defaults', () => {
    expect(smokeOptions(['https://api.example.com'])).toEqual({
      baseUrl: 'https://api.example.com',
      credentialsFile: undefined,
      receiver: undefined,
      alarmStack: undefined,
      serviceName: 'svc',
    });
  });

  test('returns all options', () => {
    const args = ['https://api.example.com', '--credentials', 'a.json', '--receiver', 'https://hooks.example.com'];
    expect(smokeOptions([...args, '--alarm', '--stack', 'Other', '--service-name', 'notes'])).toEqual({
      baseUrl: 'https://api.example.com',
      credentialsFile: 'a.json',
      receiver: 'https://hooks.example.com',
      alarmStack: 'Other',
      serviceName: 'notes',
    });
  });

  test.each([
    [[], 'Give the address of the API'],
    [['api.example.com'], 'Give the address of the API'],
    [['https://api.example.com', 'more'], 'Give the address of the API'],
    [['https://api.example.com', '--receiver', 'hooks'], '--receiver must be an http(s) address'],
    [['https://api.example.com', '--alarms'], 'alarms'],
  ])('rejects %j', (args, problem) => {
    expect(() => smokeOptions(args)).toThrow(problem);
  });
});

describe('setAlarm', () => {
  const environment = { ...process.env };
  const dir = temporaryFolder();
  let cloudFormation: Receiver;
  let requests: string[];

  beforeEach(async () => {
    requests = [];
    cloudFormation = await startHttp((request, response) => {
      void text(request).then((body) => {
        const query = new URLSearchParams(body);
        requests.push(`${query.get('Action')} ${query.get('StackName')} ${query.get('LogicalResourceId')}`);
        response
          .setHeader('content-type', 'text/xml')
          .end(
            '<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail><PhysicalResourceId>Staging-ConcurrencyHigh-1X2Y</PhysicalResourceId></StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>',
          );
      });
    });
    Object.assign(process.env, {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
      PATH: `${dir}${delimiter}${environment.PATH}`,
    });
  });
  afterEach(async () => {
    process.env = { ...environment };
    await cloudFormation.stop();
  });

  /** Puts an executable `aws` in front of the real AWS CLI. */
  const installCli = (script: string) => writeFile(join(dir, 'aws'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

  test('sets the alarm of the stack to the state ALARM through the AWS CLI', async () => {
    await installCli(`printf '%s\\n' "$AWS_DEFAULT_REGION" "$@" > '${dir}/arguments'`);
    expect(await setAlarm('Staging')).toBe(
      'Staging-ConcurrencyHigh-1X2Y is set to ALARM. The notice to alarmEmail and alarmTopicArn says: Test of npm run smoke. Nothing is broken.',
    );
    expect(requests).toEqual([`DescribeStackResource Staging ${ALARM}`]);
    expect((await readFile(join(dir, 'arguments'), 'utf8')).trimEnd().split('\n')).toEqual([
      ...['eu-west-1', 'cloudwatch', 'set-alarm-state'],
      ...['--alarm-name', 'Staging-ConcurrencyHigh-1X2Y', '--state-value', 'ALARM'],
      ...['--state-reason', 'Test of npm run smoke. Nothing is broken.'],
    ]);
  });

  test('throws the message of the AWS CLI', async () => {
    await installCli('echo "An error occurred (AccessDenied)" >&2; exit 254');
    await expect(setAlarm('Staging')).rejects.toThrow('An error occurred (AccessDenied)');
  });
});

describe('ExampleValues', () => {
  const exampleId = 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ';

  test('replaces an example id in values and keys by the generated id of an answer', () => {
    const values = new ExampleValues();
    values.recordAnswer({ data: { [exampleId]: { success: true } } }, { data: { agt_new: { success: true } } });
    expect(values.fill({ agentId: exampleId, agents: [exampleId], [exampleId]: 1 })).toEqual({
      agentId: 'agt_new',
      agents: ['agt_new'],
      agt_new: 1,
    });
  });

  test('keeps a fixed value whatever an answer has, so no example changes another API key', () => {
    const values = new ExampleValues({ [exampleId]: 'own' });
    values.recordAnswer({ id: exampleId }, { id: 'foreign' });
    expect(values.fill(exampleId)).toBe('own');
  });
});

describe('messageOf', () => {
  test('adds the code or the text of the network error that fetch leaves out', () => {
    const failed = (cause: Error) =>
      messageOf(new Error('The call failed', { cause: new TypeError('fetch failed', { cause }) }));
    expect(failed(Object.assign(new Error(''), { code: 'ECONNREFUSED' }))).toBe('The call failed (ECONNREFUSED)');
    expect(failed(new Error('bad port'))).toBe('The call failed (bad port)');
    expect(messageOf(new Error('Give an address'))).toBe('Give an address');
  });
});
