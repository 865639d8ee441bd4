import type { NewRecording } from './rules.ts';

export const exampleRecording = {
  annotationId: 'walkthrough',
  recordingType: 'screen',
  from: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  displayName: 'A walk through the NDA',
  recordedTime: { duration: 61_000, display: '1:01' },
  attachments: [
    {
      name: 'walkthrough.webm',
      url: 'https://files.example.com/walkthrough.webm',
      mimeType: 'video/webm',
      size: 1_048_576,
    },
  ],
} satisfies NewRecording;
