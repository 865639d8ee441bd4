import type { NewActivity } from './rules.ts';

export const exampleActivity = {
  id: 'signature-1',
  featureType: 'custom',
  actionType: 'document.sign',
  actionUser: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  targetEntityId: 'signature',
  changes: { status: { from: 'open', to: 'signed' } },
  displayMessageTemplate: '{{actionUser}} signed {{document}}',
  displayMessageTemplateData: { actionUser: 'Ada', document: 'the NDA' },
} satisfies NewActivity;
