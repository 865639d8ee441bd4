import * as z from 'zod';
import { MAX_URL_CHARACTERS, parseHttpUrl } from '../../net/httpUrl.ts';
import { isObject } from '../../shared/collections.ts';
import {
  defineNamedSchema,
  JsonValue,
  limits,
  list,
  Name,
  OpenObject,
  optional,
  Text,
  withOpenKeys,
} from '../../shared/schema.ts';
import { HeaderSecret } from '../../workspaces/rules/mergeConfig.ts';

export const executionStrategies = ['ai', 'service', 'service+ai', 'stagehand-agent', 'mcp-tools'] as const;
const serviceIds = ['broken-links', 'crawler', 'screenshot', 'accessibility-checker', 'og-image-checker'] as const;
const providers = ['claude', 'gemini', 'nova', 'openai'] as const;

export type OpenKeys = Readonly<Record<string, unknown>>;

const MAX_NAMES = 200;
const MAX_ITEMS = 100;
const MAX_SERVERS = 5;
const MAX_REST_ENDPOINTS = 10;
const MAX_TOOLS = 64;
const MAX_PASSWORD = 4_096;

export function openFields<S extends z.ZodRawShape>(shape: S, bytes: number = limits.objectBytes) {
  return withOpenKeys(shape, bytes).transform(
    ({ open, ...declared }) => ({ ...open, ...declared }) as unknown as z.output<z.ZodObject<S>> & OpenKeys,
  );
}

const flag = optional(z.boolean());
const optionalName = optional(Name);
const optionalText = optional(Text);
const anObject = optional(openFields({}));
const names = (limit = MAX_NAMES) => optional(list(Name, limit, 0));
const Url = z.string().min(1).max(MAX_URL_CHARACTERS);
const CallableUrl = Url.check(
  z.refine((text) => text.includes('{{') || parseHttpUrl(text) !== undefined, {
    error: 'must be a valid http(s) URL or a template of one',
  }),
  // Credentials in a URL would be neither encrypted nor redacted.
  z.refine((text) => !/^[a-z]+:\/\/[^/?#]*@/i.test(text), {
    error: 'must not contain credentials: they belong into auth',
  }),
);

const HeaderMap = OpenObject.check(({ value, issues }) => {
  if (!isObject(value)) return;
  for (const [name, sent] of Object.entries(value)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/.test(name))
      issues.push({ code: 'custom', input: optionalName, path: [name], message: 'must be the name of a header' });
    else
      for (const issue of HeaderSecret.safeParse(sent, { reportInput: true }).error?.issues ?? [])
        issues.push({ ...issue, path: [name] } as never);
  }
}).meta({ type: 'object', additionalProperties: { type: 'string' } });

const requiredFields = { none: [], bearer: ['token'], basic: ['username', 'password'], header: ['headers'] } as const;

export const identityTexts = {
  name: 'What people call the agent. Several agents can have the same.',
  description: 'What the agent is for, in words for people.',
  enabled: 'Whether the agent is in use. Stored, no effect yet, because this service does not run agents.',
} as const;

export const behaviourTexts = {
  rawInstructions: 'The instructions before they were processed into `instructions`. Stored, no effect yet.',
  instructions: 'What the agent checks and reports, as its model gets it. Not required. Stored, no effect yet.',
  phaseTimeoutMs: 'How long one phase of an execution may take, in milliseconds. Stored, no effect yet.',
  contextGathering: 'What the agent reads before it looks for problems. Stored, no effect yet.',
  execution: 'How the agent finds problems. Stored, no effect yet.',
  response: 'How the answer of a model or a service becomes findings. Stored, no effect yet.',
  postProcess: 'What happens with the findings. Each stage runs unless its `enabled` is false. Stored, no effect yet.',
  input: 'The input that an execution needs. Stored, no effect yet.',
  scope: 'The pages and kinds of content that the agent reviews. Stored, no effect yet.',
  setup: 'Notes of the tools with which people make agents. They have no effect on executions.',
} as const;

const Auth = /* @__PURE__ */ defineNamedSchema('AgentAuth', () =>
  openFields({
    type: z
      .enum(['none', 'bearer', 'basic', 'header'])
      .describe(
        'Which fields are used: `bearer` needs `token`, `basic` needs `username` and `password`, `header` needs `headers`.',
      ),
    token: optional(HeaderSecret.min(1)).describe('The secret of `bearer`. Answers have `__redacted__` instead.'),
    username: optionalName.describe('The user of `basic`. It is no secret: answers contain it.'),
    password: optional(z.string().max(MAX_PASSWORD)).describe(
      'The secret of `basic`. Answers have `__redacted__` instead.',
    ),
    headers: optional(HeaderMap).describe(
      'The headers of `header`, by name. All values are secrets, and answers have `__redacted__` instead.',
    ),
  })
    .describe(
      'How an agent authenticates at another server. Secrets are encrypted. `__redacted__` in a request keeps the stored secret.',
    )
    .check(({ value, issues }) => {
      for (const field of requiredFields[value.type]) {
        if (value[field] === undefined)
          issues.push({
            code: 'custom',
            input: undefined,
            path: [field],
            message: `is required when type is ${value.type}`,
          });
      }
    }),
);

const RestEndpoint = /* @__PURE__ */ defineNamedSchema('AgentRestEndpoint', () =>
  openFields({
    id: optionalName.describe(
      'Your id of the endpoint, unique in the list. `__redacted__` keeps the secret of the stored endpoint with this id.',
    ),
    name: optionalName.describe('What people call the endpoint.'),
    description: Text.min(1).describe('What the endpoint returns.'),
    url: CallableUrl.describe(
      'An http(s) URL, or a template with `{{...}}`. Credentials in it are refused: send them in `auth`.',
    ),
    method: optional(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])).describe('The HTTP verb of the request.'),
    headers: optional(HeaderMap).describe(
      'The values of HTTP headers, by name. Values whose names look like credentials are secrets.',
    ),
    query: optional(OpenObject).describe(
      'Query parameters, by name. Values whose names look like credentials are secrets.',
    ),
    body: optional(JsonValue).describe('The content of the request, any JSON value.'),
    auth: optional(Auth).describe('How the agent authenticates at the endpoint.'),
    cacheTtlSeconds: optional(z.int().min(0).max(86_400)).describe(
      'How long a response may be used again, in seconds.',
    ),
    timeoutMs: optional(z.int().min(1).max(30_000)).describe(
      'How long the agent waits for a response, in milliseconds.',
    ),
    responsePath: optionalName.describe(
      'The path to the part of the response that is used, with dots, such as `data.items`.',
    ),
  }).describe('A REST endpoint that the agent calls to gather context. Further fields are stored too.'),
);

const RestApi = openFields({
  endpoints: list(RestEndpoint, MAX_REST_ENDPOINTS).describe('The REST endpoints that the agent reads.'),
  maxResponseBytes: optional(z.int().min(1).max(5_000_000)).describe('The largest response that is used, in bytes.'),
});

const McpServer = /* @__PURE__ */ defineNamedSchema('AgentMcpServer', () =>
  z
    .strictObject({
      id: Name.describe(
        'Your id of the server, unique in the list. `__redacted__` keeps the secret of the stored server with this id.',
      ),
      url: CallableUrl.describe(
        'An http(s) URL, or a template with `{{...}}`. Credentials in it are refused: send them in `auth`.',
      ),
      name: optionalName.describe('What people call the server.'),
      description: optionalText.describe('What the tools of the server do.'),
      transport: optional(z.enum(['http'])).describe('How the agent speaks to the server. Only `http` is supported.'),
      auth: optional(Auth).describe('How the agent authenticates at the server.'),
      allowedTools: names(MAX_TOOLS).describe('The names of the tools that the agent may use.'),
      timeoutMs: optional(z.int().min(1).max(120_000)).describe(
        'How long one call of a tool may take, in milliseconds.',
      ),
    })
    .describe('A server of the Model Context Protocol (MCP).'),
);

const AiConfig = /* @__PURE__ */ defineNamedSchema('AgentAiConfig', () =>
  z
    .strictObject({
      provider: optional(z.enum(providers)).describe('The family of the model.'),
      model: optionalName.describe('The name of the model at the provider.'),
      responseMimeType: optionalName.describe('The format in which the model answers, such as `application/json`.'),
      maxToolTurns: optional(z.int().min(1).max(16)).describe('How many times in a row the model may use tools.'),
    })
    .describe('The model that one phase of an execution uses instead of the default model.'),
);

const UpTo20 = z.int().min(1).max(20);
const Knowledge = z.strictObject({
  useMemory: flag.describe('Whether the model gets past review decisions, as `/v2/memory/search` finds them.'),
  maxChunks: optional(UpTo20).describe('The largest number of text pieces that the model gets.'),
  maxPatterns: optional(UpTo20).describe('The largest number of patterns of past decisions that the model gets.'),
  maxActivities: optional(UpTo20).describe('The largest number of recent activities that the model gets.'),
});

/** Unknown strategies are accepted, because the program that runs agents may support them. */
const ContextGathering = /* @__PURE__ */ defineNamedSchema('AgentContextGathering', () =>
  openFields({
    strategies: optional(list(Name, MAX_NAMES)).describe(
      'What the agent reads, such as `web-page-text`, `web-page-screenshot`, `web-page-links`, `robots-txt` or `rest-api`. Other names are accepted.',
    ),
    strategyOptions: optional(
      openFields({
        'web-page-text': anObject.describe('Options for the visible text of a page, such as `deviceType`.'),
        'web-page-screenshot': anObject.describe('Options for the picture of a page, such as `maxPageHeightPx`.'),
        'web-page-html': anObject.describe('Options for the HTML of a page, such as `includeHead`.'),
        'web-page-css': anObject.describe('Options for the style sheets of a page, such as `includeInlineStyles`.'),
        'computed-styles': anObject.describe('The `selectors` and `properties` whose styles are read.'),
        'sitemap-data': anObject.describe('Options for the sitemap of the site, such as `maxEntries`.'),
        lighthouse: anObject.describe('Options for the audit of a page, such as `categories` and `formFactor`.'),
        'rest-api': optional(RestApi).describe('Your own endpoints. Required if `strategies` contains `rest-api`.'),
      }),
    ).describe('The options of each strategy, by the name of the strategy.'),
    aiConfig: optional(AiConfig).describe('The model that helps to gather the context.'),
  }).describe(behaviourTexts.contextGathering),
);

const Stagehand = openFields({
  mode: optional(z.enum(['dom', 'hybrid', 'cua'])).describe(
    'Whether the agent works with the DOM of the page, as a computer-using agent (`cua`), or both.',
  ),
  maxSteps: optional(z.int().min(1)).describe('The largest number of actions in the browser.'),
  model: optionalName.describe('The name of the model that controls the browser.'),
  systemPrompt: optionalText.describe('The instructions that the model gets before all others.'),
  useStructuredOutput: flag.describe('Whether the model must answer in a fixed JSON format.'),
  waitUntil: optionalName.describe('The event that ends the loading of a page, such as `networkidle2`.'),
  navigationTimeout: optional(z.int().min(1)).describe('How long a page may take to load, in milliseconds.'),
});

const ResponseDescriptions = openFields(
  Object.fromEntries(
    [
      'summary',
      'title',
      'description',
      'severity',
      'targetText',
      'suggestion',
      'isPageLevel',
      'issueType',
      'confidence',
      'htmlSelector',
      'findingType',
    ].map((field) => [field, optionalText.describe(`Tells the model what to write as the \`${field}\` of a finding.`)]),
  ),
);

const Execution = /* @__PURE__ */ defineNamedSchema('AgentExecution', () =>
  openFields({
    executionStrategy: optional(z.enum(executionStrategies)).describe(
      'Whether a model (`ai`, the default), a service, both, an agent in a browser or a model with tools finds the problems.',
    ),
    serviceId: optional(z.enum(serviceIds)).describe(
      'The service that checks. Required for the strategies `service` and `service+ai`.',
    ),
    aiConfig: optional(AiConfig).describe('The model that finds the problems.'),
    mcpServers: optional(list(McpServer, MAX_SERVERS, 0)).describe(
      'The servers whose tools the model may use. The strategy `mcp-tools` needs one. In a change, an empty list removes the stored servers.',
    ),
    responseDescriptions: optional(ResponseDescriptions).describe(
      'What the model writes into each field of a finding.',
    ),
    strategyOptions: optional(
      openFields({ 'stagehand-agent': optional(Stagehand).describe('How the agent works in the browser.') }),
    ).describe('Options of an execution strategy, by its name.'),
    knowledge: optional(Knowledge).describe('What the model gets from memory.'),
  }).describe(behaviourTexts.execution),
);

const Response = /* @__PURE__ */ defineNamedSchema('AgentResponseConfig', () =>
  openFields({
    useAiFormatting: flag.describe('Whether a model rewrites the findings.'),
    formattingPrompt: optionalText.describe('The instructions for the model that rewrites the findings.'),
    responseAdapter: optional(z.enum(serviceIds.map((id) => `${id}-response` as const))).describe(
      'How the answer of a service becomes findings: the id of the service and `-response`.',
    ),
    aiConfig: optional(AiConfig).describe('The model that rewrites the findings.'),
  }).describe(behaviourTexts.response),
);

const stageEnabled = flag.describe('Whether this stage runs. The default is true.');
const Stage = optional(openFields({ enabled: stageEnabled }));

const PostProcess = /* @__PURE__ */ defineNamedSchema('AgentPostProcess', () =>
  openFields({
    guardrails: Stage.describe('The stage that drops findings which the agent is not sure of.'),
    deletePreviousSuggestions: Stage.describe(
      "The stage that deletes the suggestions of the agent's last execution on a page.",
    ),
    pinResolution: Stage.describe('The stage that finds where on the page a finding belongs.'),
    annotations: optional(
      openFields({
        enabled: stageEnabled,
        strategy: optional(z.enum(['findings', 'word-level', 'page-level', 'none'])).describe(
          'Whether there is a thread for each finding, each word or each page, or none.',
        ),
      }),
    ).describe('The stage that writes the findings as comment threads.'),
    analytics: Stage.describe('The stage that counts the findings.'),
    matchAndMerge: Stage.describe('Deprecated: accepted, and without effect.'),
    customProcessors: names().describe('The names of your own stages.'),
  }).describe(behaviourTexts.postProcess),
);

const UserContextField = /* @__PURE__ */ defineNamedSchema('AgentUserContextField', () =>
  openFields({
    id: Name.describe('The key of the value in the input of an execution.'),
    title: Name.describe('The label of the input for users.'),
    type: z.enum(['string', 'number', 'boolean']).describe('The JSON type of the value.'),
    required: flag.describe('Whether an execution needs the value.'),
    example: optionalText.describe('A value that helps users to fill in the input.'),
    defaultValue: optional(
      z.union([Text, z.number(), z.boolean()], { error: 'must be a string, a number or a boolean' }),
    ).describe('The value of an execution that has none. The service does not compare its type with `type`.'),
  }).describe('A value that a user fills in before an execution. Further fields are stored too.'),
);

const Input = /* @__PURE__ */ defineNamedSchema('AgentInput', () =>
  openFields({
    variableKeys: names().describe('The names of the variables that an execution gets.'),
    userContextFields: optional(list(UserContextField, MAX_ITEMS, 0)).describe('The values that users fill in.'),
    inputRequirements: optional(
      openFields({
        requires: names().describe('The inputs that an execution needs, such as `url`.'),
        requiresOneOf: names().describe('The inputs of which an execution needs at least one.'),
      }),
    ).describe('Which inputs an execution must have.'),
    supportedVariables: names().describe('The variables that `instructions` may contain as templates.'),
  }).describe(behaviourTexts.input),
);

const patterns = optional(list(Url, MAX_NAMES, 0));

const Scope = /* @__PURE__ */ defineNamedSchema('AgentScope', () =>
  openFields({
    pageScope: patterns.describe('The URLs of the pages that are reviewed, as glob patterns.'),
    pageScopeExclude: patterns.describe('The URLs of pages that are not reviewed, as glob patterns.'),
    contentTypes: names().describe('The kinds of content that are reviewed.'),
    crossPage: optional(
      openFields({
        enabled: flag.describe('Whether the agent compares pages with each other.'),
        targetProperty: optionalName.describe('What is compared, such as a price.'),
        pageDiscovery: optionalName.describe('How the pages are found: `auto` or `manual`. Other names are accepted.'),
        pages: optional(list(z.unknown(), MAX_NAMES, 0)).describe('The pages to compare, for `manual`.'),
        sourceOfTruthKnowledgeSourceId: optionalName.describe('The source with which the pages are compared.'),
      }),
    ).describe('How the agent compares pages with each other.'),
  }).describe(behaviourTexts.scope),
);

const Setup = /* @__PURE__ */ defineNamedSchema('AgentSetup', () =>
  openFields({
    setupSamples: optional(list(OpenObject, MAX_ITEMS, 0)).describe(
      'Examples of content with the findings that people expect.',
    ),
    checklistOrigin: optional(OpenObject).describe('From which checklist a tool made the agent.'),
  }).describe(behaviourTexts.setup),
);

export const behaviourShape = {
  rawInstructions: optionalText.describe(behaviourTexts.rawInstructions),
  instructions: optionalText.describe(behaviourTexts.instructions),
  phaseTimeoutMs: optional(z.int().min(1)).describe(behaviourTexts.phaseTimeoutMs),
  contextGathering: optional(ContextGathering).describe(behaviourTexts.contextGathering),
  execution: optional(Execution).describe(behaviourTexts.execution),
  response: optional(Response).describe(behaviourTexts.response),
  postProcess: optional(PostProcess).describe(behaviourTexts.postProcess),
  input: optional(Input).describe(behaviourTexts.input),
  scope: optional(Scope).describe(behaviourTexts.scope),
  setup: optional(Setup).describe(behaviourTexts.setup),
};
