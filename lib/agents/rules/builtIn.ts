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
