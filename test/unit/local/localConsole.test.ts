import { describe, expect, test } from '@jest/globals';
import { placeholdersOf, readQuery } from '../../../infra/local/assembly/queries/readQuery.ts';
import type { SavedQuery } from '../../../infra/local/assembly/queries/savedQueries.ts';
import type { ConsoleState } from '../../../infra/local/console/consoleState.ts';
import { localConsole } from '../../../infra/local/console/localConsole.ts';
import { heading, number } from '../../../infra/local/console/page/format.ts';
import { gatewayResponse } from '../../../infra/local/gateway/httpApiResponse.ts';
import type { DashboardSnapshot } from '../../../infra/local/metrics/dashboardSnapshot.ts';
import { type Part, type PartName, Parts, type PartSwitch } from '../../../infra/local/parts.ts';

const snapshot: DashboardSnapshot = {
  at: 1_700_000_000_000,
  periodSeconds: 10,
  times: [1_700_000_000_000],
  rows: [
    {
      title: '**Health**',
      graphs: [{ title: 'Requests', width: 4, series: [{ label: 'requests', values: [3] }] }],
    },
  ],
  alarms: [
    {
      name: 'ApiFaults',
      active: false,
      contributors: [],
      impacts: [],
      notifies: true,
      suppressedBy: null,
      value: 0,
      threshold: 5,
      description: 'The API answered 5xx.',
    },
  ],
};

const query = (name: string, text: string): SavedQuery => {
  const commands = readQuery(text);
  return { name, text, commands, placeholders: placeholdersOf(commands), log: 'functions', searches: () => true };
};
const faults = query('Stack/faults of Workers', 'filter status >= 500 | stats count(*) as faults by tenant');
const ofKey = query('Stack/an API key in V2Users', 'fields tenant | filter tenant = "<apiKey>" or id = "<id>"');

/** Returns a console whose parts are fakes. They record what is done with them. */
function newConsole(onStart: () => Promise<void> = () => Promise.resolve()) {
  const done: string[] = [];
  const requestedMinutes: number[] = [];
  const ran: [name: string, values: Readonly<Record<string, string>>, since: number][] = [];
  const partSwitch = (name: PartName): PartSwitch => ({
    meaning: `What ${name} is`,
    stop: () => void done.push(`stop ${name}`),
    start: () => {
      done.push(`start ${name}`);
      return onStart();
    },
  });
  const parts = new Parts({
    table: partSwitch('table'),
    queues: partSwitch('queues'),
    mail: partSwitch('mail'),
    live: partSwitch('live'),
  });
  const handle = localConsole({
    snapshotOf: (minutes) => {
      requestedMinutes.push(minutes);
      return snapshot;
    },
    parts,
    queries: {
      saved: [faults, ofKey],
      run: async (query, values, since) => {
        ran.push([query.name, values, since]);
        return {
          columns: ['tenant', 'faults'],
          rows: [
            ['<b>key</b>', 3],
            [null, 1],
          ],
        };
      },
    },
    title: 'svc here',
    dataDir: '/data & more',
    issueToken: (user) => Promise.resolve(`token of ${user.userId}`),
    slack: ({ path }) => Promise.resolve(gatewayResponse(200, path)),
  });
  const send = async (
    method: string,
    target: string,
    body = '',
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ) => {
    const { pathname, searchParams } = new URL(target, 'http://127.0.0.1');
    const answer = await handle({ method, path: pathname, query: searchParams, headers, body: Buffer.from(body) });
    return { ...answer, text: answer.body.toString() };
  };
  return { done, ran, requestedMinutes, send };
}

const PART = {
  table: { name: 'table', running: true, meaning: 'What table is' },
  queues: { name: 'queues', running: true, meaning: 'What queues is' },
  mail: { name: 'mail', running: true, meaning: 'What mail is' },
  live: { name: 'live', running: true, meaning: 'What live is' },
} as const satisfies Record<PartName, Part>;

describe('the start page', () => {
  test('links to the demo, the guides, the reference and the dashboard, and names the files of mails and credentials', async () => {
    const { status, headers, text } = await newConsole().send('GET', '/');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);
    expect(links).toEqual([
      '/_local/demo?user=ada',
      '/_local/demo?user=grace',
      '/docs',
      '/docs/first-calls',
      '/docs/reference',
      '/_local/dashboard',
    ]);
    expect((await newConsole().send('GET', '/_local/start.css')).headers['content-type']).toBe(
      'text/css; charset=utf-8',
    );
    expect(text).toContain('<code>/data &#38; more/outbox</code>');
    expect(text).toContain('<code>/data &#38; more/credentials.json</code>');
  });
});

describe('the dashboard page', () => {
  test.each([
    ['/_local/dashboard', 'text/html; charset=utf-8', '<!doctype html>'],
    ['/_local/dashboard.js', 'text/javascript; charset=utf-8', 'dashboard.json'],
    ['/_local/dashboard.css', 'text/css; charset=utf-8', '.uplot'],
  ])('serves %s', async (path, type, contained) => {
    const { status, headers, text } = await newConsole().send('GET', path);
    expect([status, headers['content-type']]).toEqual([200, type]);
    expect(text).toContain(contained);
  });

  test('loads its own files only, and has no inline script', async () => {
    const { headers, text } = await newConsole().send('GET', '/_local/dashboard');
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(text.match(/(?<=\b(?:src|href)=")[^"]*/g)).toEqual([
      'data:,',
      'dashboard.css',
      'dashboard.js',
      'queries',
      'runbook',
      'dashboard.json',
    ]);
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
  });
});

describe('dashboard.json', () => {
  test.each([
    ['', 15],
    ['?minutes=15', 15],
    ['?minutes=60', 60],
  ])('returns the data for dashboard.json%s', async (query, minutes) => {
    const { requestedMinutes, send } = newConsole();
    const { status, headers, text } = await send('GET', `/_local/dashboard.json${query}`);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, 'application/json', 'no-store']);
    expect(JSON.parse(text)).toEqual({
      ...snapshot,
      title: 'svc here',
      parts: Object.values(PART),
    } satisfies ConsoleState);
    expect(requestedMinutes).toEqual([minutes]);
  });

  test.each(['', '0', '16', '1e1', '15,60', '-15', 'all'])('refuses a range of "%s" minutes', async (minutes) => {
    const { requestedMinutes, send } = newConsole();
    const { status, text } = await send('GET', `/_local/dashboard.json?minutes=${minutes}`);
    expect([status, JSON.parse(text)]).toEqual([400, { message: '"minutes" must be 15 or 60.' }]);
    expect(requestedMinutes).toEqual([]);
  });
});

test('the stand-in of Slack takes calls of functions, and none of pages of other origins', async () => {
  const { send } = newConsole();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await send('POST', '/_local/slack/api/users.lookupByEmail', 'email=x', type)).status).toBe(200);
  const foreign = { ...type, origin: 'https://evil.example' };
  expect((await send('POST', '/_local/slack/services/x', '{}', foreign)).status).toBe(403);
});

describe('the switch of a part', () => {
  test('stops and starts the part', async () => {
    const { done, send } = newConsole();
    const stopped = await send('POST', '/_local/parts/queues', '{"running": false}');
    expect([stopped.status, JSON.parse(stopped.text)]).toEqual([
      200,
      { parts: [PART.table, { ...PART.queues, running: false }, PART.mail, PART.live] },
    ]);
    const started = await send('POST', '/_local/parts/queues', '{"running": true}', {
      'content-type': 'Application/JSON; charset=utf-8',
    });
    expect([started.status, JSON.parse(started.text)]).toEqual([200, { parts: Object.values(PART) }]);
    expect(done).toEqual(['stop queues', 'start queues']);
  });

  test.each([
    undefined,
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'application/jsonp',
    'text/plain; application/json',
  ])('refuses the content type "%s", because a page of another origin can send it', async (type) => {
    const { done, send } = newConsole();
    const { status, text } = await send(
      'POST',
      '/_local/parts/table',
      '{"running": false}',
      type === undefined ? {} : { 'content-type': type },
    );
    expect([status, JSON.parse(text), done]).toEqual([
      415,
      { message: 'The content type must be application/json.' },
      [],
    ]);
  });

  test.each(['', '{', 'null', '[]', '{}', '"running"', '{"running": "false"}', '{"running": 0}', '{"running": null}'])(
    'refuses the body %s',
    async (body) => {
      const { done, send } = newConsole();
      const { status, text } = await send('POST', '/_local/parts/table', body);
      expect([status, JSON.parse(text), done]).toEqual([
        400,
        { message: 'The body must be {"running": true} to start the part, or {"running": false} to stop it.' },
        [],
      ]);
    },
  );
});

test('a request fails if the part cannot be started', async () => {
  const { send } = newConsole(() => Promise.reject(new Error('It does not start')));
  const turn = (running: boolean) => send('POST', '/_local/parts/mail', JSON.stringify({ running }));
  await turn(false);
  await expect(turn(true)).rejects.toThrow('It does not start');
});

describe('the tokens of the demo page', () => {
  const send = (body: string, headers?: Record<string, string>) =>
    newConsole().send('POST', '/_local/demo/token', body, headers);

  test('are issued to the users of the demo', async () => {
    const { status, text } = await send('{"userId": "grace"}');
    expect([status, JSON.parse(text)]).toEqual([200, { token: 'token of grace' }]);
  });

  test('are refused to a page of another origin, because it cannot send JSON without a preflight', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])
      expect((await send('{"userId": "grace"}', { 'content-type': type })).status).toBe(415);
  });

  test.each(['', 'null', '{}', '[]', '{"userId": "eve"}', '{"userId": ["ada"]}', '{"userId": "toString"}'])(
    'are refused for the body %j',
    async (body) => expect((await send(body)).status).toBe(400),
  );
});

test.each([
  ['POST', '/_local/dashboard', 'GET'],
  ['GET', '/_local/parts/table', 'POST'],
  ['GET', '/_local/demo/token', 'POST'],
  ['GET', '/_local/slack/services/x', 'POST'],
])('refuses the method %s of %s', async (method, path, allow) => {
  expect(await newConsole().send(method, path)).toMatchObject({ status: 405, headers: { allow } });
});

test('the pages answer requests of their own origin only', async () => {
  const { done, send } = newConsole();
  const stop = (origin: string) =>
    send('POST', '/_local/parts/table', '{"running":false}', {
      'content-type': 'application/json',
      host: '127.0.0.1:3000',
      origin,
    });
  for (const origin of ['https://evil.example', 'null', '', 'http://127.0.0.1:1', 'https://127.0.0.1:3000'])
    expect(await stop(origin)).toMatchObject({
      status: 403,
      headers: { 'cross-origin-resource-policy': 'same-origin' },
    });
  expect(done).toEqual([]);
  expect((await stop('http://127.0.0.1:3000')).status).toBe(200);
  expect(done).toEqual(['stop table']);
});

describe('the page of saved queries', () => {
  test('lists the queries, without scripts and with forms for itself', async () => {
    const { send, ran } = newConsole();
    const { status, headers, text } = await send('GET', '/_local/queries');
    expect([status, headers['content-type'], ran]).toEqual([200, 'text/html; charset=utf-8', []]);
    expect(headers['content-security-policy']).toMatch(/script-src 'none'.*form-action 'self'/);
    for (const name of ['faults+of+Workers', 'an+API+key+in+V2Users'])
      expect(text).toContain(`href="/_local/queries?name=Stack%2F${name}"`);
  });

  test('runs a query over the last hour, or over the chosen time, and escapes what it finds', async () => {
    const { send, ran } = newConsole();
    const { text } = await send('GET', '/_local/queries?name=Stack/faults+of+Workers');
    expect(text).toContain('2 rows.');
    expect(text).toContain('<td>&#60;b&#62;key&#60;/b&#62;</td><td>3</td>');
    expect(text).toContain('<td></td><td>1</td>');
    await send('GET', '/_local/queries?name=Stack/faults+of+Workers&minutes=15');
    expect(ran).toEqual([
      ['Stack/faults of Workers', {}, expect.any(Number)],
      ['Stack/faults of Workers', {}, expect.any(Number)],
    ]);
    expect(Math.round((ran[1]![2] - ran[0]![2]) / 60_000)).toBe(45);
  });

  test('asks for the values of placeholders, and runs the query with one of them', async () => {
    const { send, ran } = newConsole();
    const path = '/_local/queries?name=Stack/an+API+key+in+V2Users';
    const { text } = await send('GET', path);
    expect(text).toContain('<input name="apiKey" value=""');
    expect(ran).toEqual([]);
    const filled = await send('GET', `${path}&apiKey=%20k%22%3E&id=`);
    expect(filled.text).toContain('value="k&#34;&#62;"');
    expect(ran).toEqual([['Stack/an API key in V2Users', { apiKey: 'k">', id: '' }, expect.any(Number)]]);
  });

  test.each(['name=other', 'name=Stack/faults+of+Workers&minutes=7', 'name='])(
    'finds nothing for %s',
    async (search) => {
      expect((await newConsole().send('GET', `/_local/queries?${search}`)).status).toBe(404);
    },
  );
});

describe('the page of the runbook', () => {
  test('has a section for each heading, and links to saved queries, other sections and other pages of the runbook', async () => {
    const { status, text } = await newConsole().send('GET', '/_local/runbook');
    expect(status).toBe(200);
    expect(text).toContain('<h1>Runbook</h1>');
    expect(text).toContain('<h2 id="failing-workers">Failing workers</h2>');
    expect(text).toContain(
      '<a href="/_local/queries?name=Stack%2Ffaults+of+Workers"><code>faults of Workers</code></a>',
    );
    expect(text).toContain('<a href="/_local/queries"><code>an API key in &#60;Family&#62;</code></a>');
    expect(text).toContain('<a href="#dead-letters">dead letters</a>');
    expect(text).toContain('<a href="/_local/runbook/restore">restoring the table</a>');
    expect(text).not.toContain('generated:');
  });

  test.each(['restore', 'rollback', 'deployment', 'local'])('serves the page %s', async (name) => {
    expect((await newConsole().send('GET', `/_local/runbook/${name}`)).status).toBe(200);
  });

  test.each(['RUNBOOK.md', '..%2Fpackage.json', 'toString', ''])('has no page %s', async (name) => {
    expect((await newConsole().send('GET', `/_local/runbook/${name}`)).status).toBe(404);
  });
});

describe('the files of the demo page', () => {
  test('allow scripts of the system only, and contain no credential header', async () => {
    const { send } = newConsole();
    const page = await send('GET', '/_local/demo');
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self';");
    const script = await send('GET', '/_local/demo.js');
    expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(script.text).not.toMatch(/auth-token|api-key/);
    expect((await send('GET', '/_local/demo.css')).status).toBe(200);
  });
});

test.each([
  '/_local/',
  '/_local/dashboard/',
  '/_local/demo/',
  '/_local/demo/token/',
  '/_local/page/demo/demo.ts',
  '/_local/dashboard.html',
  '/_local/page/main.ts',
  '/_local/parts',
  '/_local/parts/',
  '/_local/parts/engine',
  '/_local/parts/table/now',
  '/_local/parts/toString',
  '/_local/..%2Fsettings.ts',
])('%s is not found', async (path) => {
  const { done, send } = newConsole();
  for (const method of ['GET', 'POST']) {
    const { status, headers, text } = await send(method, path, '{"running": false}');
    expect([status, JSON.parse(text)]).toEqual([
      404,
      {
        message:
          'There is no page at this path. The dashboard is at /_local/dashboard, the demo is at /_local/demo, saved queries are at /_local/queries, and the runbook is at /_local/runbook.',
      },
    ]);
    expect(headers).toHaveProperty('content-security-policy');
  }
  expect(done).toEqual([]);
});

describe('the format of the page', () => {
  test.each([
    [null, '–'],
    [undefined, '–'],
    [0, '0'],
    [0.012345, '0.0123'],
    [3, '3'],
    [12.345, '12.3'],
    [999.4, '999'],
    [1234.5, '1,235'],
    [99_999, '99,999'],
    [123_456, '123.5K'],
    [-4.26, '-4.26'],
  ])('the number %s is shown as %s', (value, text) => {
    expect(number(value)).toBe(text);
  });

  test.each([
    ['**Health** Runbook: `README.md#a`', { title: 'Health', note: 'Runbook: README.md#a' }],
    ['**/v2/users**', { title: '/v2/users', note: '' }],
    ['Plain', { title: 'Plain', note: '' }],
  ])('%s is split into title and note', (markdown, parts) => {
    expect(heading(markdown)).toEqual(parts);
  });
});
