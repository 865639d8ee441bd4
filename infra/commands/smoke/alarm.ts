import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { physicalId } from '../operator.ts';

/** If the path of the construct changes, the hash at the end of this logical id changes too. */
export const ALARM = 'ConcurrencyHigh2B059A58';
const REASON = 'Test of npm run smoke. Nothing is broken.';

export async function setAlarm(stack: string): Promise<string> {
  const name = await physicalId(stack, ALARM);
  const state = ['--alarm-name', name, '--state-value', 'ALARM', '--state-reason', REASON];
  // Version 1 of the AWS CLI does not read AWS_REGION, from which the SDK takes the region.
  const { AWS_REGION: region } = process.env;
  const env = { ...process.env, ...(region !== undefined && { AWS_DEFAULT_REGION: region }) };
  await promisify(execFile)('aws', ['cloudwatch', 'set-alarm-state', ...state], { env });
  return `${name} is set to ALARM. The notice to alarmEmail and alarmTopicArn says: ${REASON}`;
}
