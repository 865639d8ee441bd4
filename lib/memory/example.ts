export const exampleJudgment = {
  recordId: 'review-17',
  reasoning: 'The price is without VAT, and the page does not say so.',
  decision: 'rejected',
  confidence: 90,
  actionUser: { userId: 'grace', name: 'Grace Hopper' },
  createdAt: 1767225600000,
  scope: 'document',
  organizationId: 'acme',
  documentId: 'pricing',
  contentType: 'text',
  agent: null,
} as const;
