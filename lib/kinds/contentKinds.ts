import { activityKind } from '../activities/kind.ts';
import { commentKind } from '../comments/kind.ts';
import { reactionKind } from '../comments/reactionKind.ts';
import { viewKind } from '../comments/viewKind.ts';
import type { ContentKind } from '../content/kind.ts';
import { editorKind } from '../editors/kind.ts';
import { invitationKind } from '../invitations/kind.ts';
import { liveStateKind } from '../liveState/kind.ts';
import { judgmentKind } from '../memory/kind.ts';
import { notificationKind } from '../notifications/kind.ts';
import { presenceKind } from '../presence/kind.ts';
import { recordingKind } from '../recordings/kind.ts';

/** A kind comes after those to which its records refer, because an erasure walks the list backwards. */
export const contentKinds = [
  viewKind,
  editorKind,
  liveStateKind,
  presenceKind,
  commentKind,
  reactionKind,
  recordingKind,
  activityKind,
  notificationKind,
  judgmentKind,
  invitationKind,
] as const satisfies readonly ContentKind[];
