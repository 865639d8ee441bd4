import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import type { ConsoleState } from '../../infra/local/console/consoleState.ts';
import { heading, number } from '../../infra/local/console/page/format.ts';
import { type Tab, TestBrowser } from '../support/browser.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { type Answer, startSystem, type System } from './system.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const DASHBOARD = '/_local/dashboard';
/** The number of faults that activates an alarm. */
const FAULTS = 5;
const nda = { organizationId: 'acme', documentId: 'nda' };
const [ada, grace] = [
  { userId: 'ada', name: 'Ada', email: 'ada@example.com' },
  { userId: 'grace', name: 'Grace', email: 'grace@example.com' },
];

let system: System;
let browser: TestBrowser;
const tabs: Tab[] = [];

// All tests share one system and one browser, because each takes a second to start. The last test restarts the system.
beforeAll(async () => {
  [system, browser] = await Promise.all([startSystem({ dataDir }), TestBrowser.start()]);
});
afterEach(() => Promise.all(tabs.splice(0).map(({ page }) => page.context().close())));
afterAll(() => Promise.all([system.stop(), browser.stop()]));
const dataDir = temporaryFolder();

/** Opens a page of the system in a new tab, and closes the tab after the test. */
async function open(path: string, options: Parameters<TestBrowser['open']>[0] = {}): Promise<Tab> {
  const tab = await browser.open(options);
  tabs.push(tab);
  await tab.page.goto(system.baseUrl + path);
  return tab;
}

/** Runs JavaScript in the page. The code is a string, because this file is compiled without the types of the DOM. */
const inPage = <Value>(page: Page, code: string) => page.evaluate<Value>(code);

/** Checks that the page shows no warning about the local system. */
const expectNoProblem = (page: Page) =>
  page.getByRole('alert').filter({ hasText: /^$/ }).waitFor({ state: 'attached' });

describe('the dashboard', () => {
  /** Waits until the highest value of a graph's line is above zero. Returns that value. */
  async function highest(page: Page, row: string, graph: string, label: string): Promise<number> {
    const line = page
      .getByRole('region', { name: row, exact: true })
      .getByRole('figure', { name: graph, exact: true })
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader', { name: label, exact: true }) });
    const value = line.getByRole('cell').last().filter({ hasText: /[1-9]/ });
    return Number((await value.textContent())?.replaceAll(',', ''));
  }
  const health = (page: Page) => page.getByRole('status').filter({ hasText: 'alarm' });
  const part = (page: Page, name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) });
  const withText = (locator: Locator, text: string | RegExp) => locator.filter({ hasText: text }).waitFor();
  /** Waits for the next poll of the page. Returns the received state when the page shows it. */
  async function nextState(page: Page): Promise<ConsoleState> {
    const response = await page.waitForResponse(/dashboard\.json/);
    const state = (await response.json()) as ConsoleState;
    await withText(
      page.locator('#updated'),
      await inPage<string>(page, `new Date(${state.at}).toTimeString().slice(0, 8)`),
    );
    return state;
  }
  /** Calls in turn, because an instance counts the outage of a dependency once for the calls that it answers at the same time. */
  async function refused(): Promise<Answer[]> {
    const answers: Answer[] = [];
    while (answers.length < FAULTS) answers.push(await system.post('/v2/users/get', { organizationId: 'acme' }));
    return answers;
  }

  test('opens without errors, also with a locale that is not a language tag, and loads files only from the system', async () => {
    const { page, problems, requestedUrls } = await open(`${DASHBOARD}.json`);
    await page.addInitScript("Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })");
    await page.goto(system.baseUrl + DASHBOARD);
    await withText(health(page), /^All \d+ alarms are OK$/);
    expect(await page.title()).toBe('svc on this machine');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('svc on this machine');
    for (const name of ['table', 'queues', 'mail', 'live']) await withText(part(page, name), 'runs');
    await withText(page.getByText(/^No calls in the last 15 minutes: /), '/v2/recordings');
    expect(requestedUrls.filter((url) => !url.startsWith(system.baseUrl + DASHBOARD))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('shows new requests without a reload', async () => {
    const { page, problems } = await open(DASHBOARD);
    await health(page).waitFor();
    await inPage(page, 'window.stays = true');
    await system.client.v2.organizations.documents.add({
      organizationId: 'acme',
      createOrganization: true,
      documents: [{ documentId: 'nda', documentName: 'NDA' }],
    });
    await system.client.v2.users.add({ ...nda, users: [ada, grace] });
    await expect(
      system.client.v2.users.add({ organizationId: 'acme', documentId: 'missing', users: [ada] }),
    ).rejects.toThrow();
    for (const [row, graph, label] of [
      ['/v2/users', 'Invocations', 'add'],
      ['/v2/organizations', 'Duration p99, ms', 'documents/add'],
      ['Health', 'Requests', 'requests'],
      ['Health', '4xx, 5xx', '4xx'],
      ['Table', 'Write units consumed', 'table'],
    ] as const)
      expect([graph, (await highest(page, row, graph, label)) > 0]).toEqual([graph, true]);
    expect(await inPage(page, 'window.stays')).toBe(true);
    expect(problems).toEqual([]);
  });

  test('describes each line of a graph as text, with the latest and the highest value', async () => {
    const { page } = await open(DASHBOARD);
    const { rows } = await nextState(page);
    const displayedRows = await inPage<unknown>(
      page,
      `[...document.querySelectorAll('#rows > section:not([hidden])')].map((row) => [row.querySelector('h2').textContent, ...[...row.querySelectorAll('figure')].map((figure) => [
      figure.querySelector('h3').textContent, ...[...figure.querySelectorAll('tbody tr')].map((line) => [...line.cells].map((cell) => cell.textContent)),
    ])])`,
    );
    const expected = rows
      .filter(
        ({ title, graphs }) => !heading(title).title.startsWith('/') || graphs.some(({ series }) => series.length > 0),
      )
      .map((row) => [
        heading(row.title).title,
        ...row.graphs.map(({ title, series }) => [
          title,
          ...series.map(({ label, values }) => {
            const measured = values.filter((value) => value !== null);
            return [label, number(measured.at(-1)), number(measured.length > 0 ? Math.max(...measured) : null)];
          }),
        ]),
      ]);
    expect(displayedRows).toEqual(expected);
    expect(expected.flat(2).length).toBeGreaterThan(60);
  });

  test('shows the time under the pointer in all graphs, until the pointer leaves', async () => {
    const { page, problems } = await open(DASHBOARD);
    await nextState(page);
    const readTimes = () =>
      inPage<string[]>(
        page,
        "[...new Set([...document.querySelectorAll('figure thead th:nth-child(2)')].filter(({ offsetParent }) => offsetParent).map(({ textContent }) => textContent))]",
      );
    expect(await readTimes()).toEqual(['latest']);
    await page.locator('.u-over').first().hover();
    await page
      .getByRole('columnheader', { name: /^\d\d:\d\d:\d\d$/ })
      .first()
      .waitFor();
    expect(await readTimes()).toEqual([expect.stringMatching(/^\d\d:\d\d:\d0$/)]);
    await page.getByRole('heading', { level: 1 }).hover();
    await page.getByRole('columnheader', { name: 'latest' }).first().waitFor();
    expect(await readTimes()).toEqual(['latest']);
    expect(problems).toEqual([]);
  });

  test('shows one hour on request, and keeps that choice in its address', async () => {
    const { page, problems, requestedUrls } = await open(DASHBOARD);
    await page.getByRole('button', { name: '1 hour' }).click();
    await withText(page.getByText(/^No calls in the last hour: /), '/v2/recordings');
    expect(page.url()).toBe(`${system.baseUrl}${DASHBOARD}?minutes=60`);
    await page.reload();
    await page.getByRole('button', { name: '1 hour', pressed: true }).waitFor();
    expect((await nextState(page)).periodSeconds).toBe(60);
    expect(requestedUrls.at(-1)).toBe(`${system.baseUrl}${DASHBOARD}.json?minutes=60`);
    expect(problems).toEqual([]);
  });

  test('can be used with the keyboard only, and keeps the focus after a change', async () => {
    const { page, problems } = await open(DASHBOARD);
    await health(page).waitFor();
    const focused = () => inPage<string>(page, 'document.activeElement.textContent');
    const reached: string[] = [];
    while (reached.at(-1) !== 'Stop live' && reached.length < 20) {
      await page.keyboard.press('Tab');
      reached.push(await focused());
    }
    expect(reached).toEqual([
      'Saved queries',
      'Runbook',
      '15 minutes',
      '1 hour',
      expect.stringMatching(/^All \d+ alarms$/),
      'Stop table',
      'Stop queues',
      'Stop mail',
      'Stop live',
    ]);
    await page.keyboard.press('Enter');
    await withText(part(page, 'live'), 'stopped');
    await withText(page.getByRole('status'), 'live is stopped.');
    expect(await focused()).toBe('Start live');
    await page.keyboard.press('Enter');
    await withText(part(page, 'live'), 'runs');
    await withText(page.getByRole('status'), 'live runs again.');
    expect(problems).toEqual([]);
  });

  test('shows an active alarm with its impact and runbook, and restarts a stopped part', async () => {
    const { page, problems } = await open(DASHBOARD);
    await page.getByRole('button', { name: 'Stop table' }).click();
    await withText(part(page, 'table'), 'stopped');
    expect((await refused()).map(({ status, body }) => [status, body.error?.status])).toEqual(
      Array(FAULTS).fill([503, 'UNAVAILABLE']),
    );

    const alarm = page.getByRole('article', { name: 'V2UsersNotice is active' });
    await withText(alarm, 'no notice: TableCause');
    const text = await alarm.innerText();
    expect(text).toContain('An endpoint of /v2/users answers with status 500 or above.');
    expect(text).toMatch(/^V2UsersNotice\s+no notice: TableCause\s+v2\.users\.get: customers cannot /);
    expect(text).not.toContain('Impact, one or more of');
    expect(text).toContain('It sends no notices while TableCause is active.');
    const cause = page.getByRole('article', { name: 'TableCause is active' });
    expect(await cause.innerText()).not.toContain('no notice:');
    expect(text).toMatch(/Runbook\s+infra\/RUNBOOK\.md#faults\s+Severity\s+high, act now/);
    expect(text).toContain('For V2UsersFaults (v2.users.get)');
    await withText(health(page), /^\d+ of \d+ alarms active, notices of \d+$/);
    expect(await page.title()).toMatch(/^\(\d+\) svc on this machine$/);
    expect(await highest(page, '/v2/users', 'Faults (status 500 and above)', 'v2.users.get')).toBeGreaterThanOrEqual(1);

    await page.getByRole('button', { name: 'Start table' }).click();
    await withText(part(page, 'table'), 'runs');
    await system.client.v2.users.get({ organizationId: 'acme' });
    expect(problems).toEqual([]);
  });

  test('leads from an alarm to its section of the runbook and to its saved query, which names the endpoint', async () => {
    const { page, problems } = await open(DASHBOARD);
    const alarm = page.getByRole('article', { name: 'V2UsersNotice is active' });
    await alarm.getByRole('link', { name: 'infra/RUNBOOK.md#faults' }).click();
    await page.getByRole('heading', { name: 'Faults', exact: true }).waitFor();
    expect(page.url()).toBe(`${system.baseUrl}/_local/runbook#faults`);
    expect(await inPage(page, "document.querySelector(':target').getBoundingClientRect().top < innerHeight")).toBe(
      true,
    );
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await alarm.getByRole('link', { name: 'saved query "CollaborationBackend/faults of V2Users"' }).click();
    const result = page.getByRole('region', { name: 'Result' });
    const row = result.getByRole('row').filter({ hasText: 'v2.users.get' });
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      'v2.users.get',
      'UNAVAILABLE',
      // The credentials could not be read, so the lines have no API key.
      '',
      expect.stringMatching(/^[1-9]\d*$/),
    ]);
    expect(problems).toEqual([]);
  });

  test.each([
    ['/_local/queries', 390, 'light'],
    ['/_local/runbook', 390, 'light'],
    ['/_local/runbook', 1280, 'light'],
    [DASHBOARD, 1920, 'light'],
    [DASHBOARD, 1280, 'dark'],
    [DASHBOARD, 390, 'light'],
    [DASHBOARD, 390, 'dark'],
  ] as const)('%s fits into a width of %d pixels in the %s colour scheme', async (path, width, colorScheme) => {
    const { page, problems } = await open(path, { viewport: { width, height: 900 }, colorScheme });
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (path === DASHBOARD) {
      await nextState(page);
      // An open table of all alarms and an active alarm have the widest contents of the page.
      await page.getByRole('article').first().waitFor();
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: join(tmpdir(), `dashboard-${width}-${colorScheme}.png`), fullPage: true });
      await page.getByText(/^All \d+ alarms$/).click();
      await page.getByRole('region', { name: 'All alarms' }).waitFor();
    }
    expect(
      await inPage(
        page,
        "[document.documentElement.scrollWidth, [...document.querySelectorAll('figure')].filter(({ offsetParent, scrollWidth, clientWidth }) => offsetParent && scrollWidth > clientWidth).length]",
      ),
    ).toEqual([width, 0]);
    expect(problems).toEqual([]);
  });

  describe('polling', () => {
    const POLL = /dashboard\.json/;
    /** Opens a dashboard with a fake clock, and waits for its first answer. */
    async function openStanding(): Promise<Tab> {
      const tab = await browser.open();
      tabs.push(tab);
      await tab.page.clock.install();
      await tab.page.goto(system.baseUrl + DASHBOARD);
      await health(tab.page).waitFor();
      return tab;
    }
    /** Resolves when all earlier requests of the page are recorded. */
    const waitForRequests = (page: Page) =>
      inPage(page, "fetch('dashboard.css').then((response) => response.text()).then(() => undefined)");

    test('repeats after an answer or a long wait, and shows when the last answer came', async () => {
      const { page, requestedUrls } = await openStanding();
      const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
      await page.route(POLL, (route) => released.then(() => route.continue()));
      const before = requestedUrls.length;
      await page.clock.runFor(9_000);
      await page.getByRole('button', { name: '1 hour' }).click();
      await waitForRequests(page);
      const polls = () => requestedUrls.slice(before).filter((url) => POLL.test(url));
      expect(polls()).toEqual([`${system.baseUrl}${DASHBOARD}.json?minutes=15`]);
      expect(await page.getByRole('alert').textContent()).toBe('');

      await page.clock.runFor(6_000);
      const said = page.getByRole('alert').filter({ hasText: 'has not answered since' });
      const since = await said.textContent();
      await page.clock.runFor(30_000);
      await waitForRequests(page);
      expect(await said.textContent()).toBe(since);
      expect(polls()[1]).toBe(`${system.baseUrl}${DASHBOARD}.json?minutes=60`);

      release(undefined);
      await page.clock.runFor(15_000);
      await expectNoProblem(page);
    });

    test('stops while the page is hidden', async () => {
      const { page, requestedUrls } = await openStanding();
      const see = (hidden: boolean) =>
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'));`;
      const requestsAfter = async (code: string) => {
        const before = requestedUrls.length;
        await inPage(page, code);
        await waitForRequests(page);
        await page.clock.runFor(60_000);
        await waitForRequests(page);
        return requestedUrls.slice(before).filter((url) => !url.endsWith('.css'));
      };
      expect(await requestsAfter(see(true))).toEqual([]);
      // The page polls as soon as it is visible, and is hidden again before the answer.
      expect(await requestsAfter(see(false) + see(true))).toEqual([`${system.baseUrl}${DASHBOARD}.json?minutes=15`]);
    });
  });
});

describe('the documentation', () => {
  const item = (page: Page, id: string) => page.locator(`details[id="${id}"]`);

  /** Returns the critical and serious findings of axe in the page. The schemes differ in their colours only. */
  async function findings(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
    await inPage(page, axe);
    return inPage(
      page,
      `axe.run(${colorScheme === 'light' ? '' : "{ runOnly: ['color-contrast'] }"}).then(({ violations }) => violations
        .filter(({ impact }) => impact === 'critical' || impact === 'serious')
        .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
    );
  }

  test.each(['light', 'dark'] as const)(
    'has nothing critical or serious for axe in the %s scheme',
    async (colorScheme) => {
      for (const path of [
        '/docs',
        '/docs/first-calls',
        '/docs/api-webhooks',
        '/docs/reference',
        '/docs/reference-users',
      ]) {
        const { page, problems } = await open(path, { colorScheme });
        await inPage(page, "document.querySelectorAll('main details').forEach((each) => { each.open = true; })");
        if (path.endsWith('users')) {
          await page.getByRole('button', { name: 'Try it' }).first().click();
          expect([path, await findings(page, colorScheme)]).toEqual([path, []]);
          await page.getByRole('button', { name: 'Authorize' }).click();
        }
        expect([path, await findings(page, colorScheme), problems]).toEqual([path, [], []]);
      }
    },
  );

  test('a link to an operation opens it, also through the contents of the reference', async () => {
    const { page, problems, requestedUrls } = await open('/docs/reference-users#v2.users.get');
    await item(page, 'v2.users.get').and(page.locator('[open]')).waitFor();
    expect(await page.locator('details.item[open]').count()).toBe(1);
    await page.goto(`${system.baseUrl}/docs/reference#webhooks.comment.add`);
    await page.waitForURL(`${system.baseUrl}/docs/reference-advanced-webhooks#webhooks.comment.add`);
    const webhook = item(page, 'webhooks.comment.add').and(page.locator('[open]'));
    await webhook.getByRole('row').filter({ hasText: 'The comment that the event is about.' }).waitFor();
    expect(requestedUrls.filter((url) => !url.startsWith(`${system.baseUrl}/docs/`))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('filters the operations of the contents, and the webhooks of a page', async () => {
    const { page } = await open('/docs/reference');
    const filter = page.getByRole('searchbox', { name: 'Filter endpoints and webhooks' });
    await filter.fill('/users count/get');
    await page
      .getByRole('status')
      .filter({ hasText: /^1 of \d+$/ })
      .waitFor();
    expect(await page.locator('[data-item]:visible code').allTextContents()).toEqual(['/v2/users/count/get']);
    await page.goto(`${system.baseUrl}/docs/reference-advanced-webhooks`);
    await page.getByRole('searchbox', { name: 'Filter Advanced webhooks' }).fill('reaction_add');
    await page
      .getByRole('status')
      .filter({ hasText: /^1 of \d+$/ })
      .waitFor();
    expect(await page.locator('details[data-item]:visible h2').allTextContents()).toEqual(['comment.reaction_add']);
  });

  test('the search leads to a section of a guide', async () => {
    const { page, problems } = await open('/docs');
    await page.getByRole('searchbox', { name: 'Search' }).fill('verify delivery');
    await page.getByRole('list', { name: 'Search results' }).getByRole('link', { name: 'Verify a delivery' }).click();
    await page.waitForURL(`${system.baseUrl}/docs/api-webhooks#verify-a-delivery`);
    expect(problems).toEqual([]);
  });

  test('shows the samples in the language that the reader chose', async () => {
    const { page } = await open('/docs/first-calls');
    const shown = () =>
      page.locator('figure:visible').evaluateAll((each) => each.map(({ dataset }) => dataset.language));
    expect(new Set(await shown())).toEqual(new Set(['sh']));
    await page.getByRole('button', { name: 'Python' }).first().click();
    expect(new Set(await shown())).toEqual(new Set(['python']));
    await page.reload();
    expect(new Set(await shown())).toEqual(new Set(['python']));
  });

  test('sends a request with the credentials of the dialog, which other pages of the tab have too', async () => {
    const { page, problems, requestedUrls } = await open('/docs/reference-users#v2.users.count.get');
    await system.ok('/v2/organizations/documents/add', {
      organizationId: 'initech',
      createOrganization: true,
      documents: [{ documentId: 'contract' }],
    });
    await system.ok('/v2/users/add', { organizationId: 'initech', documentId: 'contract', users: [ada, grace] });
    const counting = item(page, 'v2.users.count.get');
    await counting.getByRole('button', { name: 'Try it' }).click();
    await counting.getByRole('button', { name: 'Send' }).click();
    await counting.getByRole('status').filter({ hasText: 'Enter the credentials of the level API key' }).waitFor();

    await page.getByRole('button', { name: 'Authorize' }).click();
    const dialog = page.getByRole('dialog', { name: 'Authorize' });
    expect(
      await dialog
        .getByRole('group')
        .evaluateAll((groups) => groups.map((each) => each.querySelectorAll('input').length)),
    ).toEqual([2, 2, 1]);
    await dialog.getByRole('textbox', { name: 'API key' }).fill(system.credentials.apiKey);
    await dialog.getByRole('textbox', { name: 'Auth token', exact: true }).fill(system.credentials.authToken);
    await dialog.getByRole('button', { name: 'Use these credentials' }).click();
    await page.getByRole('status').filter({ hasText: 'Credentials: API key' }).waitFor();
    await counting
      .getByRole('textbox')
      .fill(JSON.stringify({ data: { organizationId: 'initech', documentIds: ['contract'] } }));
    await counting.getByRole('button', { name: 'Send' }).click();
    const answer = counting.getByRole('status').filter({ hasText: '"count": 2' });
    await answer.filter({ hasText: /^Status 200, \d+ ms/ }).waitFor();
    expect(requestedUrls.at(-1)).toBe(`${system.baseUrl}/v2/users/count/get`);

    await page.goto(`${system.baseUrl}/docs/reference-organizations`);
    await page.getByRole('status').filter({ hasText: 'Credentials: API key' }).waitFor();
    await page.getByRole('button', { name: 'Authorize' }).click();
    await dialog.getByRole('button', { name: 'Remove them' }).click();
    expect(await inPage(page, "sessionStorage.getItem('credentials')")).toBe('{}');
    expect(problems).toEqual([]);
  });
});

test('the dashboard reports a system that stopped, and shows its data again after the restart', async () => {
  const { page, problems } = await open(DASHBOARD);
  const said = page.getByRole('alert');
  await page.getByRole('button', { name: 'Stop table' }).waitFor();
  await system.stop();
  await said
    .filter({
      hasText:
        /^The system has not answered since \d\d:\d\d:\d\d\. The data shown is from \d\d:\d\d:\d\d\. The page retries every 2 seconds\.$/,
    })
    .waitFor();
  expect(await page.getByRole('button', { name: 'Stop table' }).isVisible()).toBe(true);
  expect(problems.filter((problem) => !/ERR_CONNECTION|ERR_EMPTY_RESPONSE|503/.test(problem))).toEqual([]);

  system = await startSystem({ dataDir, env: { PORT: new URL(system.baseUrl).port } });
  await expectNoProblem(page);
  await page
    .getByRole('status')
    .filter({ hasText: /^All \d+ alarms are OK/ })
    .waitFor();
});
