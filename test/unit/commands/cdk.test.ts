import { describe, expect, test } from '@jest/globals';
import { missingApproval } from '../../../infra/commands/cdk.ts';

describe('missingApproval', () => {
  const session = { hasTerminal: false, environment: {}, config: { app: 'npx node infra/app.ts' } };

  test.each([[['deploy']], [['deploy', '--no-rollback', '-c', 'live=on']]])('refuses %j without a terminal', (args) => {
    expect(missingApproval(args, session)).toMatch(
      /there is no terminal[^]*npm run deploy -- --require-approval never$/,
    );
    expect(missingApproval(args, { ...session, hasTerminal: true })).toBeUndefined();
  });

  test.each([
    [['deploy', '--require-approval', 'never']],
    [['deploy', '--require-approval=never']],
    [['deploy', '--yes']],
    [['deploy', '-y']],
    [['deploy', '--help']],
    [['diff']],
    [['synth', '-q']],
    [[]],
  ])('accepts %j without a terminal', (args) => {
    expect(missingApproval(args, session)).toBeUndefined();
  });

  test('accepts a decision in the environment and in cdk.json', () => {
    const deploy = (decided: Partial<typeof session>) => missingApproval(['deploy'], { ...session, ...decided });
    expect(deploy({ environment: { CDK_REQUIRE_APPROVAL: 'never' } })).toBeUndefined();
    expect(deploy({ environment: { CDK_YES: 'true' } })).toBeUndefined();
    expect(
      deploy({ config: { ...session.config, requireApproval: 'never' } as typeof session.config }),
    ).toBeUndefined();
  });
});
