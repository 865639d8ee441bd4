import type { DocumentedResponse, JsonSchema, OpenApiDocument, Operation } from '../../../lib/openapi/document.ts';
import type { Reference } from '../../../lib/openapi/jsonSchema.ts';
import { type Html, html } from '../../../lib/shared/html.ts';
import { type DocsPage, pathOf, textOf } from './layout.ts';
import { renderText, type Resolve } from './markdown.ts';
import { fieldTable, namesIn, schemaId } from './schema.ts';

interface Item {
  readonly kind: 'endpoint' | 'webhook';
  /** The path of an endpoint, or the name of a webhook. */
  readonly title: string;
  readonly operation: Pick<Operation, 'operationId' | 'tags' | 'summary' | 'security'> & {
    readonly responses: Readonly<Record<string, object>>;
    readonly description?: string;
    readonly parameters?: readonly unknown[];
    readonly requestBody: { readonly description?: string; readonly content: Operation['requestBody']['content'] };
  };
}

export const REFERENCE = 'reference';

export function pageOfTag(tag: string): string {
  return `${REFERENCE}-${tag.toLowerCase().replaceAll(' ', '-')}`;
}

/** Returns a page of contents, and one page for each tag. */
export function referencePages(openApi: OpenApiDocument, resolve: Resolve): DocsPage[] {
  const items: Item[] = [
    ...Object.entries(openApi.paths).map(
      ([title, { post }]) => ({ kind: 'endpoint', title, operation: post }) as const,
    ),
    ...Object.entries(openApi.webhooks).map(
      ([title, { post }]) => ({ kind: 'webhook', title, operation: post }) as const,
    ),
  ];
  const ofTag = (tag: string) => items.filter(({ operation }) => operation.tags.includes(tag));
  return [
    contentsPage(openApi, ofTag, resolve),
    ...openApi.tags.map(({ name, description }): DocsPage => {
      const own = ofTag(name);
      return {
        name: pageOfTag(name),
        title: name,
        body: html`${renderText(description, resolve)}${tools(
          `Filter ${name}`,
          own.some(({ kind }) => kind === 'endpoint'),
        )}${own.map((item) => itemDetails(item, openApi, resolve))}${schemaSection(own, openApi, resolve)}${authorizeDialog(openApi)}`,
        sections: own.map(({ title, operation: { operationId, summary, description: text = '', requestBody } }) => ({
          id: operationId,
          title: `${title} – ${summary}`,
          text: `${title.split(/[/._]/).join(' ')} ${textOf(String(renderText(text, resolve)))} ${fieldNames(requestBody.content['application/json'].schema).join(' ')}`,
        })),
      };
    }),
  ];
}

function contentsPage(openApi: OpenApiDocument, ofTag: (tag: string) => readonly Item[], resolve: Resolve): DocsPage {
  const groups = openApi.tags.map(({ name }) => {
    const page = pageOfTag(name);
    const links = ofTag(name).map(
      ({ title, operation: { operationId, summary } }) =>
        html`<li data-item="${title} ${summary}"><a id="${operationId}" href="${pathOf(page, operationId)}"><code>${title}</code></a> ${summary}</li>\n`,
    );
    return html`<section data-group><h2><a href="${pathOf(page)}">${name}</a></h2>\n<ul class="operations">\n${links}</ul></section>\n`;
  });
  return {
    name: REFERENCE,
    title: 'Reference',
    body: html`${renderText(openApi.info.description, resolve)}<p>Version ${openApi.info.version}. The same as OpenAPI 3.1, for generators: <a href="/openapi.json">openapi.json</a>.</p>
${tools('Filter endpoints and webhooks', false)}${groups}`,
    sections: [{ title: 'Reference', text: textOf(String(renderText(openApi.info.description, resolve))) }],
  };
}

function tools(label: string, hasAuthorize: boolean): Html {
  const authorize = html`<button type="button" data-authorize>Authorize</button>\n<span data-authorized role="status"></span>\n`;
  return html`<div class="tools">
<label for="filter">${label}</label>
<input id="filter" type="search" autocomplete="off">
<span id="filtered" role="status"></span>
${hasAuthorize ? authorize : ''}</div>
`;
}

function itemDetails({ kind, title, operation }: Item, openApi: OpenApiDocument, resolve: Resolve): Html {
  const { operationId, summary, description, requestBody, responses, security } = operation;
  const { schema, example, examples = {} } = requestBody.content['application/json'];
  const isEndpoint = kind === 'endpoint';
  const samples = example === undefined ? Object.entries(examples) : [['Example', { value: example }] as const];
  return html`<details class="item" id="${operationId}" data-item="${title} ${summary}">
<summary><h2><code>${isEndpoint ? `POST ${title}` : title}</code></h2> <span>${summary}</span></summary>
<div class="body">
<p><a href="#${operationId}">Link to this ${kind}</a></p>
${description === undefined ? '' : renderText(description, resolve)}${isEndpoint ? credentialsLine(operation) : ''}${parameterTable(operation.parameters ?? [], openApi, resolve)}<h3>${isEndpoint ? 'Request' : 'Body'}</h3>
${requestBody.description === undefined ? '' : renderText(requestBody.description, resolve)}${bodyTable(schema, isEndpoint, resolve)}${samples.map(([name, sample]) => exampleBlock(summaryOf(name, sample), sample.value))}${isEndpoint ? tryIt(title, example, security) : ''}${isEndpoint ? answers(responses, openApi, resolve) : ''}</div>
</details>
`;
}

function summaryOf(name: string, sample: object): string {
  return 'summary' in sample ? String(sample.summary) : name;
}

function bodyTable(schema: JsonSchema, isEndpoint: boolean, resolve: Resolve): Html {
  const { data } = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  return isEndpoint && data ? fieldTable(data, 'Field of data', resolve) : fieldTable(schema, 'Field', resolve);
}

const levels: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  workspaceId: 'workspace',
  userToken: 'user token',
};

function levelsOf(security: Operation['security']): [scheme: string, name: string][] {
  return Object.entries(levels).filter(([scheme]) => security.some((schemes) => Object.hasOwn(schemes, scheme)));
}

function credentialsLine({ security }: Item['operation']): Html {
  const names = levelsOf(security).map(([, name]) => name);
  return html`<p>Credentials: ${names.length === 0 ? 'none' : names.join(' or ')}.</p>\n`;
}

function parameterTable(parameters: readonly unknown[], openApi: OpenApiDocument, resolve: Resolve): Html | string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((parameter) => {
    const {
      name,
      description,
      required = false,
    } = resolved(openApi, parameter) as Readonly<Record<string, string>> & {
      required?: boolean;
    };
    return html`<tr><td><code>${name ?? ''}</code></td><td>${required ? 'always' : 'optional'}</td><td>${renderText(description ?? '', resolve)}</td></tr>\n`;
  });
  return html`<h3>Headers</h3>
<div class="wide" tabindex="0"><table><thead><tr><th>Header</th><th>Sent</th><th>Meaning</th></tr></thead><tbody>
${rows}</tbody></table></div>
`;
}

function exampleBlock(title: string, value: unknown): Html {
  return html`<details class="example"><summary>${title}</summary>${jsonBlock(value)}</details>\n`;
}

function jsonBlock(value: unknown): Html {
  return html`<pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre>\n`;
}

/** The script of the page makes the form "Try it" of these attributes. */
function tryIt(path: string, example: unknown, security: Operation['security']): Html {
  return html`<div data-try="${path}" data-levels="${levelsOf(security)
    .map(([scheme]) => scheme)
    .join(' ')}" data-example="${JSON.stringify(example, null, 2)}"></div>
`;
}

function answers(responses: Item['operation']['responses'], openApi: OpenApiDocument, resolve: Resolve): Html {
  const blocks = Object.entries(responses).map(([code, response]) => {
    const { description, content } = resolved(openApi, response) as DocumentedResponse;
    const { schema, example, examples = {} } = content['application/json'];
    if (code !== '200') {
      const lines = description.split('\n').map((line) => html`<li>${line}</li>\n`);
      const values = Object.values(examples).map(({ value }) => jsonBlock(value));
      return html`<details class="error"><summary>${code}: ${Object.keys(examples).join(', ')}</summary><ul>\n${lines}</ul>\n${values}</details>\n`;
    }
    const { result } = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
    return html`<h3>Answer</h3>
${fieldTable(result ?? schema, 'Field of result', resolve)}${exampleBlock('Example of an answer', example)}<h3>Errors</h3>
`;
  });
  return html`${blocks}`;
}

function schemaSection(items: readonly Item[], openApi: OpenApiDocument, resolve: Resolve): Html | string {
  const { schemas } = openApi.components;
  const names = new Set<string>();
  const queue = items.flatMap(({ operation }) => [
    ...namesIn(operation.requestBody),
    ...namesIn(Object.values(operation.responses).map((response) => resolved(openApi, response))),
  ]);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (names.has(name)) continue;
    names.add(name);
    queue.push(...namesIn(schemas[name]));
  }
  // The errors of an endpoint are shown with the endpoint.
  const shown = [...names].filter((name) => name !== 'ErrorResponse').sort();
  const tables = shown.map(
    (name) => html`<details class="item" id="${schemaId(name)}"><summary><h2>${name}</h2></summary><div class="body">
${fieldTable(schemas[name] ?? {}, 'Field', resolve)}</div></details>
`,
  );
  return shown.length === 0
    ? ''
    : html`<section aria-label="Named objects"><p class="group">Named objects</p>\n${tables}</section>\n`;
}

function authorizeDialog({ components: { securitySchemes } }: OpenApiDocument): Html {
  const field = (scheme: string, label: string) => {
    const { name = 'authorization' } = securitySchemes[scheme] as { name?: string };
    return html`<p><label for="credential-${scheme}">${label}</label><input id="credential-${scheme}" data-scheme="${scheme}" data-header="${name}" autocomplete="off" spellcheck="false"></p>\n`;
  };
  return html`<dialog id="authorize" aria-labelledby="authorize-title">
<h2 id="authorize-title">Authorize</h2>
<p>This tab keeps the credentials until it is closed. They are sent to this service only.</p>
<fieldset><legend>API key</legend>
${field('apiKey', 'API key')}${field('authToken', 'Auth token')}</fieldset>
<fieldset><legend>Workspace</legend>
${field('workspaceId', 'Workspace id')}${field('workspaceAuthToken', 'Workspace auth token')}</fieldset>
<fieldset><legend>User</legend>
${field('userToken', 'User token')}</fieldset>
<button type="button" data-apply>Use these credentials</button>
<button type="button" data-remove>Remove them</button>
</dialog>
`;
}

function fieldNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...(key === 'properties' ? Object.keys(item as object) : []),
    ...fieldNames(item),
  ]);
}

function resolved(openApi: OpenApiDocument, value: unknown): unknown {
  const { $ref } = value as Partial<Reference>;
  if ($ref === undefined) return value;
  const parts = $ref.slice('#/'.length).split('/');
  return parts.reduce<unknown>((parent, part) => (parent as Record<string, unknown>)[part], openApi);
}
