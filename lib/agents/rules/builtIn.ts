/** The instructions of built-in agents are not published. */
export interface BuiltInAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  /** True if only other agents use this agent. Lists leave it out. */
  readonly internal?: true;
  readonly inputRequirements: { readonly requires?: readonly string[]; readonly requiresOneOf?: readonly string[] };
}

const REQUIRES_URL_OR_TEXT = { requiresOneOf: ['url', 'text'] };
const REQUIRES_URL = { requires: ['url'] };

const catalogue: readonly BuiltInAgent[] = [
  {
    id: 'spell-check',
    name: 'Spell check',
    description: 'Finds misspelt words.',
    category: 'copy-qa',
    inputRequirements: REQUIRES_URL_OR_TEXT,
  },
  {
    id: 'grammar-check',
    name: 'Grammar check',
    description: 'Finds mistakes of grammar and punctuation.',
    category: 'copy-qa',
    inputRequirements: REQUIRES_URL_OR_TEXT,
  },
  {
    id: 'broken-links',
    name: 'Broken links',
    description: 'Finds links that lead nowhere.',
    category: 'seo',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'pii-detection',
    name: 'Personal data',
    description: 'Finds names, addresses, numbers and other data of persons.',
    category: 'brand-checks',
    inputRequirements: REQUIRES_URL_OR_TEXT,
  },
  {
    id: 'profanity-filter',
    name: 'Profanity filter',
    description: 'Finds words that offend.',
    category: 'brand-checks',
    inputRequirements: REQUIRES_URL_OR_TEXT,
  },
  {
    id: 'sensitive-data',
    name: 'Sensitive data',
    description: 'Finds keys, passwords and other data that should not be published.',
    category: 'brand-checks',
    inputRequirements: REQUIRES_URL_OR_TEXT,
  },
  {
    id: 'lighthouse',
    name: 'Page audit',
    description: 'Measures performance, accessibility, best practices and search engine optimization of a page.',
    category: 'performance',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'accessibility-checker',
    name: 'Accessibility',
    description: 'Finds what keeps people from using a page.',
    category: 'design-checks',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'og-image-checker',
    name: 'Preview images',
    description: 'Checks the images that a page shows where it is shared.',
    category: 'seo',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'lorem-ipsum',
    name: 'Placeholder text',
    description: 'Finds placeholder text that was left behind.',
    category: 'copy-qa',
    inputRequirements: REQUIRES_URL_OR_TEXT,
  },
  {
    id: 'image-inspector',
    name: 'Images',
    description: 'Finds images that are broken, blurred, distorted or without a text alternative.',
    category: 'design-checks',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'mobile-inspector',
    name: 'Small screens',
    description: 'Finds what does not fit or does not work on the screen of a phone.',
    category: 'design-checks',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'consistency-checker',
    name: 'Consistency',
    description: 'Finds names, terms and statements that contradict each other.',
    category: 'copy-qa',
    inputRequirements: REQUIRES_URL_OR_TEXT,
  },
  {
    id: 'ai-visibility',
    name: 'Visibility to assistants',
    description: 'Checks how well assistants with language models can find, read and quote a page.',
    category: 'seo',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'migration-parity',
    name: 'Parity after a migration',
    description: 'Finds content, links and metadata that a page lost when its site was moved.',
    category: 'seo',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'content-request-list',
    name: 'Content requests',
    description: 'Lists the texts and images that a page still lacks, as requests to their authors.',
    category: 'copy-qa',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'fix-it-everywhere',
    name: 'Fix it everywhere',
    description: 'Finds the other places on a site that have a mistake which was fixed in one place.',
    category: 'copy-qa',
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'crawler',
    name: 'Crawler',
    description: 'Finds the pages of a site for other agents.',
    category: 'service',
    internal: true,
    inputRequirements: REQUIRES_URL,
  },
  {
    id: 'screenshot',
    name: 'Screenshot',
    description: 'Takes pictures of pages for other agents.',
    category: 'service',
    internal: true,
    inputRequirements: REQUIRES_URL,
  },
];

const byId = new Map(catalogue.map((agent) => [agent.id, agent]));

export function findBuiltInAgent(agentId: string): BuiltInAgent | undefined {
  return byId.get(agentId);
}

export const publicBuiltInAgents: readonly BuiltInAgent[] = /* @__PURE__ */ catalogue.filter(
  ({ internal }) => !internal,
);
