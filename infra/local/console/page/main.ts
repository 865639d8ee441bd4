/** Requests the measured data repeatedly and shows it on the dashboard. */
import './locale.ts';
import { type ConsoleState, ranges } from '../consoleState.ts';
import { showAlarms } from './alarms.ts';
import { byId, element, setText } from './dom.ts';
import { time } from './format.ts';
import { showParts } from './parts.ts';
import { startPolling } from './polling.ts';
import { showRows } from './rows.ts';

const PATIENCE_MILLISECONDS = 10_000;

const buttons = ranges.map((minutes) => ({
  minutes,
  button: element('button', { type: 'button' }, minutes === 60 ? '1 hour' : spanOf(minutes)),
}));
let minutes = supportedRange(Number(new URLSearchParams(location.search).get('minutes')));
let lastAnswer: number | undefined;
let failedSince: number | undefined;

const pollNow = startPolling(async () => {
  const requestedMinutes = minutes;
  const state = await stateOf(requestedMinutes);
  if (typeof state === 'string') showFailure(state);
  else if (requestedMinutes === minutes) show(state);
});

/** If the request fails, returns the end of a sentence that begins with `The system`. */
async function stateOf(requestedMinutes: number): Promise<ConsoleState | string> {
  try {
    const response = await fetch(`dashboard.json?minutes=${requestedMinutes}`, {
      signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
    });
    return response.ok ? ((await response.json()) as ConsoleState) : `answers with ${response.status}`;
  } catch {
    return 'has not answered';
  }
}

function show(state: ConsoleState): void {
  [lastAnswer, failedSince] = [Date.now(), undefined];
  setText(byId('connection'), '');
  document.body.classList.remove('stale');
  const active = state.alarms.filter((alarm) => alarm.active && alarm.notifies && alarm.suppressedBy === null).length;
  document.title = active > 0 ? `(${active}) ${state.title}` : state.title;
  setText(byId('title'), state.title);
  setText(byId('updated'), `Updated ${time(state.at)}`);
  showAlarms(state.alarms);
  showParts(state.parts, pollNow);
  document.querySelector('main')?.removeAttribute('hidden');
  showRows(state, spanOf(minutes));
}

function showFailure(how: string): void {
  failedSince ??= Date.now();
  document.body.classList.add('stale');
  const ageNote = lastAnswer === undefined ? '' : ` The data shown is from ${time(lastAnswer)}.`;
  setText(
    byId('connection'),
    `The system ${how} since ${time(failedSince)}.${ageNote} The page retries every 2 seconds.`,
  );
}

/** Follows the words `in the last`. */
function spanOf(rangeMinutes: number): string {
  return rangeMinutes === 60 ? 'hour' : `${rangeMinutes} minutes`;
}

function supportedRange(requestedMinutes: number): number {
  return ranges.find((range) => range === requestedMinutes) ?? ranges[0];
}

function chooseRange(requestedMinutes: number): void {
  minutes = requestedMinutes;
  for (const each of buttons) each.button.ariaPressed = String(each.minutes === minutes);
  // A reload of the page keeps the range.
  history.replaceState(null, '', `?minutes=${minutes}`);
  pollNow();
}

for (const each of buttons) each.button.addEventListener('click', () => chooseRange(each.minutes));
byId('ranges').append(...buttons.map(({ button }) => button));
chooseRange(minutes);
