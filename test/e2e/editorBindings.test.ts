import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import * as Y from 'yjs';
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
const bindings = ['tiptap', 'prosemirror'];

/**
 * The page of an application, with the bindings from npm. It gives the document to the binding as the guide says.
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
provider.whenSynced.then(show);
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
  readonly binding: string;
  readonly page?: 'packed' | 'linked';
}

async function load({ editorId, binding, page = 'packed' }: Opened): Promise<Tab> {
  const tab = await browser.open();
  tabs.push(tab);
  const query = new URLSearchParams({ api: system.baseUrl, editor: editorId, binding });
  await tab.page.goto(`http://localhost:${site.port}/${page}?${query.toString()}`);
  return tab;
}

/** Opens an editor and sets the focus into it. */
async function open(options: Opened): Promise<Page> {
  const { page } = await load(options);
  await page.locator('[contenteditable=true]').focus();
  return page;
}

const isSaved = (page: Page) => page.waitForFunction('provider.synced && provider.saved');
const shownText = (page: Page) => page.locator('#editor').innerText();

/** Stores a text through the binding, and returns the id of the editor. */
async function store(binding: string, editorId: string): Promise<string> {
  const type = ['tiptap', 'prosemirror'].includes(binding) ? 'xml' : 'text';
  const contentKey = { tiptap: 'default', lexical: 'root' }[binding] ?? 'content';
  await system.ok('/v2/crdt/add', { ...nda, editorId, type, contentKey, data: '' });
  const page = await open({ binding, editorId });
  await page.keyboard.insertText(STORED);
  await until(
    () => storedBytes(editorId),
    (stored) => stored.includes(STORED),
  );
  await page.close();
  return editorId;
}

/** Returns the stored document. It has no content that was deleted. */
async function storedBytes(editorId: string): Promise<Buffer> {
  const { update } = await system.ok('/v2/crdt/updates/get', { ...nda, editorId });
  const doc = new Y.Doc();
  Y.applyUpdate(doc, Buffer.from(update as string, 'base64'));
  return Buffer.from(Y.encodeStateAsUpdate(doc));
}

/** Waits until all calls of pages have ended, and returns whether the text is stored and shown. */
async function remains(binding: string, editorId: string): Promise<boolean> {
  const page = await open({ binding, editorId });
  await isSaved(page);
  return (await shownText(page)).includes(STORED) && (await storedBytes(editorId)).includes(STORED);
}

describe.each(bindings)('an editor with the binding of %s', (binding) => {
  test.each([
    ['closes the page', (page: Page) => page.close({ runBeforeUnload: true })],
    ['goes to another page', (page: Page) => page.goto('about:blank')],
    ['destroys the provider', (page: Page) => page.evaluate('provider.destroy()')],
  ])('keeps the stored text when a user types one key and %s at once', async (what, leave) => {
    const editorId = await store(binding, `${binding} ${what}`);
    const page = await open({ binding, editorId });
    await page.keyboard.press('x');
    await leave(page);
    expect(await remains(binding, editorId)).toBe(true);
  });
});

test('a page with two copies of yjs shows no editor, and the error names the remedy', async () => {
  await store('codemirror', 'linked');
  const { page, problems } = await load({ binding: 'codemirror', editorId: 'linked', page: 'linked' });
  await page.waitForFunction('document.readyState === "complete"');
  expect(problems.join()).toMatch(/two copies of yjs.*resolve\.dedupe/s);
  expect(await page.locator('[contenteditable=true]').count()).toBe(0);
});
