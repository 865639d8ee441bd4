import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import * as registry from '../../functions/index.ts';
import { projectDir } from '../../infra/build/build.ts';
import { buildClientPackage, packClient } from '../../infra/build/clientPackage.ts';
import { installTool } from '../../infra/tools/installTool.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { type Tab, TestBrowser } from '../support/browser.ts';
import { type Receiver, startHttp } from '../support/receivers.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { startSystem, type System, until } from './system.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };
const STORED = 'Important old text';
const KEY = 'q';
const READ = '**/v2/crdt/updates/get';
const editors = {
  tiptap: { type: 'xml', contentKey: 'default' },
  prosemirror: { type: 'xml', contentKey: 'content' },
  lexical: { type: 'xml', contentKey: 'root' },
  codemirror: { type: 'text', contentKey: 'content' },
};
type Binding = keyof typeof editors;
const bindings = Object.keys(editors) as Binding[];

/**
 * The page of an application, with the bindings from npm. By default it gives the document to the binding as the guide says. With
 * `early` it does not wait for the first read.
 */
const PAGE = `
import { createUserClient } from 'collaboration-backend-client/user';
import { EditorProvider } from 'collaboration-backend-client/editor';
import * as Y from 'yjs';
import { Editor } from '@tiptap/core';
import Document from '@tiptap/extension-document';
import Paragraph from '@tiptap/extension-paragraph';
import Text from '@tiptap/extension-text';
import Collaboration from '@tiptap/extension-collaboration';
import { Schema } from 'prosemirror-model';
import { EditorState as ProseMirrorState } from 'prosemirror-state';
import { EditorView as ProseMirrorView } from 'prosemirror-view';
import { initProseMirrorDoc, ySyncPlugin } from 'y-prosemirror';
import { createEditor } from 'lexical';
import { registerRichText } from '@lexical/rich-text';
import { createBinding, syncLexicalUpdateToYjs, syncYjsChangesToLexical } from '@lexical/yjs';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { yCollab } from 'y-codemirror.next';

const bindings = {
  tiptap(element, document) {
    new Editor({ element, extensions: [Document, Paragraph, Text, Collaboration.configure({ document })] });
  },
  prosemirror(element, document) {
    const schema = new Schema({ nodes: {
      doc: { content: 'paragraph+' },
      paragraph: { content: 'text*', toDOM: () => ['p', 0], parseDOM: [{ tag: 'p' }] },
      text: {},
    } });
    const fragment = document.getXmlFragment('content');
    const { doc, mapping } = initProseMirrorDoc(fragment, schema);
    new ProseMirrorView(element, { state: ProseMirrorState.create({ doc, plugins: [ySyncPlugin(fragment, { mapping })] }) });
  },
  lexical(element, document, awareness) {
    const editor = createEditor({ onError: (error) => { throw error; } });
    element.contentEditable = 'true';
    editor.setRootElement(element);
    registerRichText(editor);
    const provider = { awareness, connect() {}, disconnect() {}, on() {}, off() {} };
    const binding = createBinding(editor, provider, 'main', document, new Map([['main', document]]));
    const shared = binding.root.getSharedType();
    editor.registerUpdateListener(({ prevEditorState, editorState, dirtyElements, dirtyLeaves, normalizedNodes, tags }) => {
      if (!tags.has('skip-collab'))
        syncLexicalUpdateToYjs(binding, provider, prevEditorState, editorState, dirtyElements, dirtyLeaves, normalizedNodes, tags);
    });
    shared.observeDeep((events, { origin }) => {
      if (origin !== binding) syncYjsChangesToLexical(binding, provider, events, false);
    });
    // The binding shows only what changes after its creation.
    editor.update(() => {
      binding.root.applyChildrenYjsDelta(binding, shared.toDelta());
      binding.root.syncChildrenFromYjs(binding);
    }, { tag: ['collaboration', 'skip-collab'], discrete: true });
  },
  codemirror(parent, document, awareness) {
    const text = document.getText('content');
    const state = EditorState.create({ doc: text.toString(), extensions: [yCollab(text, awareness)] });
    new EditorView({ parent, state });
  },
};

const query = new URLSearchParams(location.search);
const client = createUserClient({ baseUrl: query.get('api'), token: async () => (await fetch('/my/token')).text() });
const doc = new Y.Doc();
const provider = new EditorProvider(doc, { client, organizationId: 'acme', documentId: 'nda', editorId: query.get('editor') });
const show = () => bindings[query.get('binding')](document.getElementById('editor'), doc, provider.awareness);
window.provider = provider;
if (query.has('early')) show();
else provider.whenSynced.then(show);
`;

/** Records the URL of each call of a page, also of the call at its end, which Playwright does not report. */
const RECORD_CALLS = `
const send = window.fetch;
window.fetch = (url, options) => {
  localStorage.calls = [localStorage.calls, url].join(' ');
  return send(url, options);
};
`;

const run = promisify(execFile);
const modules = temporaryFolder();
const files = new Map<string, { readonly type: string; readonly body: string }>();
let system: System;
let browser: TestBrowser;
let site: Receiver;
const tabs: Tab[] = [];

beforeAll(async () => {
  [system, browser] = await Promise.all([startSystem(), TestBrowser.start(), buildPages()]);
  await system.ok('/v2/organizations/documents/add', {
    organizationId: 'acme',
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  await system.ok('/v2/workspace/domains/add', { domains: ['localhost'] });
  const resources = [{ type: 'document', id: 'nda', organizationId: 'acme', accessRole: 'editor' }];
  const userProperties = { name: 'Ada', email: 'ada@example.com' };
  const { token } = await system.ok('/v2/auth/generate_token', {
    userId: 'ada',
    userProperties,
    permissions: { resources },
  });
  files.set('/my/token', { type: 'text/plain', body: token });
  site = await startHttp(({ url = '' }, response) => {
    const { type, body } = files.get(url.replace(/\?.*/, '')) ?? { type: 'text/plain', body: '' };
    response.writeHead(200, { 'content-type': type }).end(body);
  });
});
afterEach(() => Promise.all(tabs.splice(0).map(({ page }) => page.context().close())));
afterAll(() => Promise.all([system.stop(), browser.stop(), site.stop()]));

/** Bundles the page with the packed client, and with a link to the folder of the client, beside which is another copy of yjs. */
async function buildPages(): Promise<void> {
  const packages = await installTool('editorBindings');
  const folder = join(modules, 'source/client');
  await buildClientPackage(Object.entries<Endpoint>(registry), folder);
  await symlink(join(projectDir, 'node_modules'), join(modules, 'source/node_modules'));
  for (const [kind, client] of Object.entries({ packed: await packClient(folder, modules), linked: folder })) {
    const app = join(modules, kind);
    await mkdir(app);
    await writeFile(join(app, 'package.json'), '{}');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', client], { cwd: app });
    // A customer has the packages of the bindings in the same folder.
    const { outputFiles } = await build({
      stdin: { contents: PAGE, resolveDir: app },
      bundle: true,
      format: 'esm',
      minify: true,
      nodePaths: [packages],
      write: false,
    });
    files.set(`/${kind}.js`, { type: 'text/javascript', body: outputFiles[0]!.text });
    const body = `<!doctype html><div id="editor"></div><script type="module" src="/${kind}.js"></script>`;
    files.set(`/${kind}`, { type: 'text/html', body });
  }
}

interface Opened {
  readonly editorId: string;
  readonly binding: Binding;
  readonly page?: 'packed' | 'linked';
  readonly isEarly?: boolean;
  /** Called before the page loads. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

async function load({ editorId, binding, page = 'packed', isEarly = false, prepare }: Opened): Promise<Tab> {
  const tab = await browser.open();
  tabs.push(tab);
  await prepare?.(tab.page);
  const query = new URLSearchParams({ api: system.baseUrl, editor: editorId, binding, ...(isEarly && { early: '' }) });
  await tab.page.goto(`http://localhost:${site.port}/${page}?${query.toString()}`);
  return tab;
}

/** Opens an editor and sets the focus into it. */
async function open(options: Opened): Promise<Page> {
  const { page } = await load(options);
  await page.locator('[contenteditable=true]').focus();
  return page;
}

const shows = (page: Page, text: string) => page.locator('#editor', { hasText: text }).waitFor();

let editorCount = 0;
const updates = new Map<Binding, string>();

/** Returns the id of a new editor with the text. The binding itself has written the text, once for all editors. */
async function store(binding: Binding): Promise<string> {
  const editorId = `editor ${(editorCount += 1)}`;
  await system.ok('/v2/crdt/add', { ...nda, editorId, ...editors[binding], data: '' });
  const update = updates.get(binding);
  if (update) {
    await system.ok('/v2/crdt/updates/push', { ...nda, editorId, userId: 'ada', update });
    return editorId;
  }
  const page = await open({ binding, editorId });
  await page.keyboard.insertText(STORED);
  await until(
    () => storedText(editorId),
    (text) => text.includes(STORED),
  );
  await page.close();
  updates.set(binding, (await system.ok('/v2/crdt/updates/get', { ...nda, editorId })).update);
  return editorId;
}

/** Returns the text of the stored document, without the tags of XML. */
async function storedText(editorId: string): Promise<string> {
  const [{ data }] = await system.ok('/v2/crdt/get', { ...nda, editorId });
  return String(data).replaceAll(/<[^>]*>/g, ' ');
}

/** Waits until the key is stored, and expects that the other text still is, and that a page shows it. */
async function expectKeyAndText(binding: Binding, editorId: string): Promise<void> {
  const text = await until(
    () => storedText(editorId),
    (stored) => stored.includes(KEY),
  );
  expect(text).toContain(STORED);
  const page = await open({ binding, editorId });
  await shows(page, STORED);
}

describe.each(bindings)('an editor with the binding of %s', (binding) => {
  test('keeps the stored text when a user types one key and leaves the page at once', async () => {
    const editorId = await store(binding);
    const page = await open({ binding, editorId });
    await page.keyboard.press(KEY);
    await page.goto('about:blank');
    await expectKeyAndText(binding, editorId);
  });

  test('sends nothing when a user types before the first read and leaves the page', async () => {
    const editorId = await store(binding);
    const reading = Promise.withResolvers<undefined>();
    const prepare = async (opened: Page) => {
      await opened.addInitScript(RECORD_CALLS);
      await opened.route(READ, () => reading.resolve(undefined));
    };
    const page = await open({ binding, editorId, isEarly: true, prepare });
    await reading.promise;
    await page.keyboard.press(KEY);
    await shows(page, KEY);
    await page.goto(`http://localhost:${site.port}/`);
    const calls = await page.evaluate<string>('localStorage.calls');
    expect(calls).toContain('/v2/crdt/updates/get');
    expect(calls).not.toContain('/v2/crdt/updates/push');
    expect((await storedText(editorId)).trim()).toBe(STORED);
  });

  test('merges a key that a user types before the first read', async () => {
    const editorId = await store(binding);
    const typed = Promise.withResolvers<undefined>();
    const prepare = (page: Page) =>
      page.route(READ, async (route) => {
        await typed.promise;
        await route.continue();
      });
    const page = await open({ binding, editorId, isEarly: true, prepare });
    await page.keyboard.press(KEY);
    typed.resolve(undefined);
    await expectKeyAndText(binding, editorId);
  });
});

test('a page with two copies of yjs shows no editor, and the error names the remedy', async () => {
  const editorId = await store('codemirror');
  const { page, problems } = await load({ binding: 'codemirror', editorId, page: 'linked' });
  await until(
    () => Promise.resolve(problems.join()),
    (text) => /two copies of yjs.*resolve\.dedupe/s.test(text),
  );
  expect(await page.locator('[contenteditable=true]').count()).toBe(0);
});
