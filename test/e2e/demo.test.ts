import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { demoDocument, demoEditor, demoUsers } from '../../infra/local/console/demoDocument.ts';
import { type Tab, TestBrowser } from '../support/browser.ts';
import { startSystem, type System } from './system.ts';

const DEMO = '/_local/demo';
/** After a permission is removed, the page must end within this time. */
const REVOKED_MILLISECONDS = 60_000;
/**
 * After a user leaves, the others must see it within this time. Without an explicit leave, the user's lease would end
 * after 20 s or more.
 */
const LEFT_MILLISECONDS = 10_000;

let system: System;
let browser: TestBrowser;
const tabs: Tab[] = [];

// All tests share one system and its demo document. The last test removes the access of a user.
beforeAll(async () => {
  [system, browser] = await Promise.all([startSystem(), TestBrowser.start()]);
});
afterEach(() => Promise.all(tabs.splice(0).map(({ page }) => page.context().close())));
afterAll(async () => {
  await Promise.all([system.stop(), browser.stop()]);
});

const textOf = (page: Page) => page.getByRole('textbox', { name: 'Text of the document' });
const statusOf = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });

/** Opens the demo as a user, and waits until the text can be edited. */
async function open(userId: string, options?: BrowserContextOptions): Promise<Tab> {
  const tab = await browser.open(options);
  tabs.push(tab);
  await tab.page.goto(`${system.baseUrl}${DEMO}?user=${userId}`);
  await textOf(tab.page).and(tab.page.locator('[contenteditable=true]')).waitFor();
  await statusOf(tab.page, 'Connected').waitFor();
  return tab;
}

async function openBoth(): Promise<{ ada: Page; grace: Page; problems: () => string[] }> {
  const both = await Promise.all([open('ada'), open('grace')]);
  const [ada, grace] = both;
  return { ada: ada.page, grace: grace.page, problems: () => both.flatMap(({ problems }) => problems) };
}

/** Types at the start or at the end of the text. */
async function typeAt(page: Page, end: 'Home' | 'End', text: string): Promise<void> {
  await textOf(page).focus();
  await page.keyboard.press(`Control+${end}`);
  await page.keyboard.type(text, { delay: 15 });
}

// A script that runs in the page and returns the lines of the text. It is a string, because this file is compiled
// without the types of the DOM.
const READ_LINES = `[...document.querySelectorAll('.cm-line')].map((line) => {
  const copy = line.cloneNode(true);
  for (const caret of copy.querySelectorAll('.cm-ySelectionCaret')) caret.remove();
  return copy.textContent;
})`;

/**
 * A script that runs in the page and returns broken ids: ids of several elements, and references to ids that no
 * element has.
 */
const READ_BROKEN_IDS = `[...document.querySelectorAll('*')].flatMap((element) => [
  ...(element.id && document.getElementById(element.id) !== element ? [element.id] : []),
  ...['for', 'aria-labelledby', 'aria-describedby', 'aria-controls'].flatMap((name) =>
    (element.getAttribute(name) ?? '').split(' ').filter((id) => id && !document.getElementById(id))),
])`;

/** Returns the lines of the text. The cursors of other users are left out. */
const linesOf = (page: Page) => page.evaluate<string[]>(READ_LINES);

/**
 * Waits until the document in a page contains all these texts. They must not end with a space, because the browser's
 * driver ignores it, and would not wait for it.
 */
async function withTexts(page: Page, texts: readonly string[]): Promise<void> {
  for (const text of texts) await textOf(page).filter({ hasText: text }).waitFor();
}

/** Adds a comment through the controls of the page. */
async function addComment(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'New comment' }).fill(text);
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
}

/** The tests before may have left unread notifications. */
async function markAllAsRead(): Promise<void> {
  const { organizationId } = demoDocument;
  for (const { userId } of demoUsers)
    await system.client.v2.notifications.update({ organizationId, userId, markAllAsRead: true });
}

const thread = (page: Page, name: string) => page.getByRole('listitem', { name, exact: true });

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, role: 'button' | 'textbox', name: string): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).first().and(page.locator(':focus'));
  for (let presses = 0; presses < 30; presses++) {
    if ((await target.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach the ${role} ${name}`);
}

describe('the demo page in two browsers', () => {
  test('merges the text that both users type at the same time, and shows the cursor of the other user', async () => {
    const { ada, grace, problems } = await openBoth();
    await Promise.all([
      typeAt(ada, 'Home', 'Ada wrote this at the start.'),
      typeAt(grace, 'End', 'Grace wrote this at the end.'),
    ]);
    const texts = ['Ada wrote this at the start.', 'Grace wrote this at the end.'];
    await Promise.all([withTexts(ada, texts), withTexts(grace, texts)]);
    expect(await linesOf(grace)).toEqual(await linesOf(ada));
    await grace.locator('.cm-ySelectionInfo', { hasText: 'Ada Lovelace' }).waitFor();
    await ada.locator('.cm-ySelectionInfo', { hasText: 'Grace Hopper' }).waitFor();
    const lines = await linesOf(ada);
    await grace.reload();
    await withTexts(grace, texts);
    expect(await linesOf(grace)).toEqual(lines);
    expect(problems()).toEqual([]);
  });

  test('shows the last words that a user wrote just before closing the page, and hides the user long before the lease ends', async () => {
    const { ada, grace } = await openBoth();
    const avatar = grace.getByRole('list', { name: 'Here now' }).getByRole('img', { name: 'Ada Lovelace' });
    const caret = grace.locator('.cm-ySelectionInfo', { hasText: 'Ada Lovelace' });
    await textOf(ada).focus();
    await Promise.all([avatar.waitFor(), caret.waitFor({ state: 'attached' })]);
    await ada.evaluate("document.execCommand('insertText', false, 'Last words')");
    await ada.close({ runBeforeUnload: true });
    await withTexts(grace, ['Last words']);
    await Promise.all([avatar, caret].map((each) => each.waitFor({ state: 'detached', timeout: LEFT_MILLISECONDS })));
  });

  test('restores a version while the other user types, and loses no typed words', async () => {
    const { ada, grace, problems } = await openBoth();
    await typeAt(ada, 'End', '\nThe first draft.');
    const versions = ada.getByRole('list', { name: 'Versions' });
    const preview = ada.locator('#preview');
    const openVersion = (name: RegExp) => versions.getByRole('button', { name }).first().press('Enter');
    await ada.getByRole('button', { name: 'History' }).press('Enter');
    await ada.getByRole('textbox', { name: 'Name of the version' }).fill('Draft');
    await ada.keyboard.press('Enter');
    await openVersion(/^Draft .* Ada Lovelace/);
    await preview.getByText('No difference to now.').waitFor();
    await typeAt(grace, 'End', ' Later words!');
    await withTexts(ada, ['Later words!']);
    await openVersion(/^Draft/);
    await preview.locator('del', { hasText: 'Later words!' }).waitFor();

    const restored = Promise.withResolvers<undefined>();
    await grace.route('**/v2/crdt/updates/push', async (route) => {
      await restored.promise;
      await route.continue();
    });
    await typeAt(grace, 'Home', 'Typed meanwhile. ');
    await preview.getByRole('button', { name: 'Restore' }).press('Enter');
    await statusOf(ada, 'You restored “Draft”.').waitFor();
    await statusOf(grace, 'Another user restored “Draft”.').waitFor();
    restored.resolve(undefined);
    await withTexts(ada, ['Typed meanwhile.', 'The first draft.']);
    expect((await linesOf(ada)).join()).not.toContain('Later words!');
    expect(await linesOf(grace)).toEqual(await linesOf(ada));
    await openVersion(/^Before restore .* Grace Hopper/);
    await preview.locator('ins', { hasText: 'Later words!' }).waitFor();
    await preview.locator('del', { hasText: 'Typed meanwhile.' }).waitFor();
    expect(problems()).toEqual([]);
  });

  test('shows comments, replies and resolved threads to the other user, with the keyboard only', async () => {
    const { ada, grace, problems } = await openBoth();
    await tabTo(ada, 'textbox', 'Text of the document');
    await ada.keyboard.type('typed ');
    await tabTo(ada, 'textbox', 'New comment');
    await ada.keyboard.type('Is this right?');
    await ada.keyboard.press('Enter');
    await thread(grace, 'Is this right?').waitFor();
    await tabTo(grace, 'textbox', 'Reply');
    await grace.keyboard.type('It is.');
    await grace.keyboard.press('Enter');
    await thread(ada, 'Is this right?').getByText('It is.').waitFor();
    await statusOf(ada, 'Grace Hopper commented: It is.').waitFor();
    await tabTo(ada, 'button', 'Resolve');
    await ada.keyboard.press('Space');
    await thread(grace, 'Resolved: Is this right?').getByRole('button', { name: 'Reopen' }).press('Space');
    await thread(ada, 'Is this right?').getByRole('button', { name: 'Resolve' }).waitFor();
    expect(problems()).toEqual([]);
  });

  test('marks the commented words, also after edits before them, and shows them from the thread', async () => {
    const { ada, grace, problems } = await openBoth();
    await typeAt(ada, 'End', '\nmarked words');
    await ada.keyboard.press('Shift+Home');
    await addComment(ada, 'Marked');
    const markOf = (page: Page) => page.locator('.commented', { hasText: 'marked words' });
    await Promise.all([ada, grace].map((page) => markOf(page).waitFor()));
    await typeAt(grace, 'Home', 'inserted before ');
    await withTexts(ada, ['inserted before']);
    expect(await markOf(ada).textContent()).toBe('marked words');
    await thread(grace, 'Marked').getByRole('button', { name: 'marked words' }).click();
    await grace.locator('.commented.shown', { hasText: 'marked words' }).waitFor();
    await grace.keyboard.type('!');
    await withTexts(ada, ['marked words!']);
    expect(await markOf(ada).textContent()).toBe('marked words');
    await thread(grace, 'Marked').getByRole('button', { name: 'Resolve' }).click();
    await markOf(ada).waitFor({ state: 'detached' });
    expect(problems()).toEqual([]);
  });

  test('offers the users to mention after @, and notifies the chosen one until the user marks it as read', async () => {
    await markAllAsRead();
    const { ada, grace, problems } = await openBoth();
    const input = ada.getByRole('textbox', { name: 'New comment' });
    const option = ada.getByRole('option', { name: 'Grace Hopper @grace' });
    await input.fill('Please look, ');
    await input.press('End');
    await ada.keyboard.type('@Ho');
    await option.and(ada.locator('[aria-selected=true]')).waitFor();
    await ada.keyboard.press('Escape');
    await option.waitFor({ state: 'detached' });
    await ada.keyboard.press('Backspace');
    await option.waitFor();
    await ada.keyboard.press('Enter');
    expect(await input.inputValue()).toBe('Please look, @grace ');
    await ada.keyboard.press('Enter');
    const text = 'Ada Lovelace mentioned you: Please look, @grace';
    await statusOf(grace, text).waitFor();
    await grace.getByRole('button', { name: 'Notifications, 1 unread' }).press('Enter');
    expect(await grace.title()).toBe('(1) Demo: Grace Hopper');
    const list = grace.getByRole('region', { name: 'Notifications' });
    const entry = list.getByRole('listitem').filter({ hasText: text });
    await entry.filter({ hasText: 'Unread' }).waitFor();
    await list.getByRole('button', { name: 'Mark all as read' }).press('Enter');
    await entry.filter({ hasNotText: 'Unread' }).waitFor();
    await grace.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
    expect(await grace.title()).toBe('Demo: Grace Hopper');
    await grace.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
    // The button shows no number, because the author of a comment gets no notification about it.
    expect(await ada.getByRole('button', { name: 'Notifications', exact: true }).isVisible()).toBe(true);
    expect(problems()).toEqual([]);
  });

  test('marks in all windows of a user what is unread, until the user has seen it in one of them', async () => {
    await markAllAsRead();
    // Too low to show threads before the user scrolls to them.
    const low = { viewport: { width: 360, height: 300 } };
    const opened = await Promise.all([open('ada'), open('grace', low), open('grace', low)]);
    const [ada, first, second] = opened.map(({ page }) => page) as [Page, Page, Page];
    const unreadMark = (page: Page) => thread(page, 'Unseen, @grace').locator('.comment', { hasText: 'Unread' });
    const badge = (page: Page) => page.getByRole('button', { name: 'Notifications, 1 unread' });
    await addComment(ada, 'Unseen, @grace');
    for (const page of [first, second]) await Promise.all([unreadMark(page).waitFor(), badge(page).waitFor()]);
    expect(await unreadMark(ada).count()).toBe(0);

    await thread(first, 'Unseen, @grace').getByRole('button', { name: 'Reply' }).scrollIntoViewIfNeeded();
    for (const page of [first, second]) await unreadMark(page).waitFor({ state: 'detached' });
    expect(await Promise.all([first, second].map((page) => badge(page).count()))).toEqual([1, 1]);
    await badge(first).press('Enter');
    await first.getByRole('button', { name: 'Mark all as read' }).press('Enter');
    for (const page of [first, second]) await badge(page).waitFor({ state: 'detached' });
    expect(opened.flatMap(({ problems }) => problems)).toEqual([]);
  });

  test('keeps edits of a user who is offline, and merges them afterwards', async () => {
    const { ada, grace } = await openBoth();
    await grace.context().setOffline(true);
    await statusOf(grace, 'Offline').waitFor();
    await typeAt(grace, 'End', '\nwritten offline');
    await typeAt(ada, 'Home', 'written meanwhile');
    expect((await linesOf(ada)).join()).not.toContain('written offline');
    expect((await linesOf(grace)).join()).not.toContain('written meanwhile');
    await grace.context().setOffline(false);
    const texts = ['written offline', 'written meanwhile'];
    await Promise.all([withTexts(ada, texts), withTexts(grace, texts)]);
    await statusOf(grace, 'Connected').waitFor();
    expect(await linesOf(grace)).toEqual(await linesOf(ada));
  });
});

describe('the demo page', () => {
  test('has roles and names for screen readers', async () => {
    const { page } = await open('grace');
    await addComment(page, 'For screen readers');
    await thread(page, 'For screen readers').waitFor();
    const snapshot = await page.locator('body').ariaSnapshot();
    for (const line of [
      '- heading "Demo" [level=1]',
      '- list "Here now"',
      '- img "Grace Hopper"',
      '- button "Notifications"',
      '- navigation "Switch user"',
      '- link "Ada Lovelace"',
      '- region "Document"',
      '- button "History"',
      '- textbox "Text of the document"',
      '- region "Comments"',
      '- textbox "New comment"',
      '- list "Comment threads"',
    ])
      expect(snapshot).toContain(line);
    expect(await page.evaluate<string[]>(READ_BROKEN_IDS)).toEqual([]);
    expect(snapshot.match(/- (button|textbox|link|img)\b(?! ").*/g)).toBeNull();
  });

  test('takes no keys until the document is read', async () => {
    const tab = await browser.open();
    tabs.push(tab);
    const { page } = tab;
    const read = Promise.withResolvers<undefined>();
    await page.route('**/v2/crdt/updates/get', async (route) => {
      await read.promise;
      await route.continue();
    });
    await page.goto(`${system.baseUrl}${DEMO}?user=ada`);
    await statusOf(page, 'Connected').waitFor();
    await page.locator('main[inert][aria-busy=true] .cm-content').click({ force: true });
    await page.keyboard.type('lost keys');
    read.resolve(undefined);
    await page.locator('main[aria-busy=false]:not([inert])').waitFor();
    await textOf(page).and(page.locator('[contenteditable=true]')).waitFor();
    expect((await linesOf(page)).join()).not.toContain('lost keys');
  });

  test('names a user whom the demo does not have, and switches to another one by a link', async () => {
    const tab = await browser.open();
    tabs.push(tab);
    await tab.page.goto(`${system.baseUrl}${DEMO}?user=bob`);
    await tab.page.getByRole('alert').filter({ hasText: 'The demo has no user bob.' }).waitFor();
    expect(await tab.page.getByRole('main').count()).toBe(0);
    expect(tab.requestedUrls.filter((url) => url.includes('/token'))).toEqual([]);
    await tab.page.getByRole('navigation').getByRole('link', { name: 'Ada Lovelace' }).click();
    await tab.page.waitForURL(/user=ada$/);
    await textOf(tab.page).and(tab.page.locator('[contenteditable=true]')).waitFor();
    expect(await tab.page.title()).toBe('Demo: Ada Lovelace');
  });

  test('loads files only from the system, and never sends or receives a credential of the API key', async () => {
    const tab = await browser.open();
    tabs.push(tab);
    const exchanged: string[] = [];
    tab.page.on('request', (request) => exchanged.push(JSON.stringify(request.headers())));
    tab.page.on(
      'response',
      (response) =>
        void response.text().then(
          (text) => exchanged.push(text),
          () => undefined,
        ),
    );
    await tab.page.goto(`${system.baseUrl}${DEMO}`);
    await statusOf(tab.page, 'Connected').waitFor();
    expect(tab.requestedUrls.filter((url) => !url.startsWith(system.baseUrl) && !url.startsWith('data:'))).toEqual([]);
    const { authToken, workspaceAuthToken } = system.credentials;
    for (const secret of [authToken, workspaceAuthToken]) expect(exchanged.join()).not.toContain(secret);
    expect(tab.problems).toEqual([]);
  });

  test('makes the text read-only after its editor was deleted and added again', async () => {
    const { page } = await open('ada');
    await system.client.v2.crdt.delete({ ...demoDocument, editorIds: [demoEditor.editorId] });
    await system.client.v2.crdt.add({ ...demoDocument, ...demoEditor, type: 'text', data: 'new text' });
    await page.getByRole('alert').filter({ hasText: 'NOT_FOUND' }).waitFor();
    await textOf(page).and(page.locator('[contenteditable=false]')).waitFor();
    await page.reload();
    await withTexts(page, ['new text']);
  });

  test('shows an error to a user who loses access, and continues for the other user', async () => {
    const { ada, grace } = await openBoth();
    await system.client.v2.auth.permissions.remove({
      userId: 'grace',
      permissions: { resources: [{ type: 'document', id: 'welcome', organizationId: 'demo' }] },
    });
    await grace
      .getByRole('alert')
      .filter({ hasText: 'Grace Hopper has no access to this document.' })
      .waitFor({ timeout: REVOKED_MILLISECONDS });
    expect(await grace.getByRole('main').count()).toBe(0);
    await typeAt(ada, 'End', '\nstill here');
    await withTexts(ada, ['still here']);
    await statusOf(ada, 'Connected').waitFor();
    await grace.reload();
    await grace.getByRole('alert').filter({ hasText: 'Grace Hopper has no access' }).waitFor();
  });
});
