/** The dashboard of the local run: asks for what was measured, and shows it. */
import './locale.ts';
import { type ConsoleState, ranges } from '../consoleState.ts';
import { showAlarms } from './alarms.ts';
import { keepAsking } from './asking.ts';
import { byId, element, setText } from './dom.ts';
import { time } from './format.ts';
import { showParts } from './parts.ts';
import { showRows } from './rows.ts';

const PATIENCE_MILLISECONDS = 10_000;

const buttons = ranges.map((minutes) => ({
  minutes,
  button: element('button', { type: 'button' }, minutes === 60 ? '1 hour' : spanOf(minutes)),
}));
let minutes = chosen(Number(new URLSearchParams(location.search).get('minutes')));
let lastAnswer: number | undefined;
let silentSince: number | undefined;

const askNow = keepAsking(async () => {
  const asked = minutes;
  const state = await stateOf(asked);
  if (typeof state === 'string') showSilence(state);
  else if (asked === minutes) show(state);
});

/** What the system says, or how it does not say anything. */
async function stateOf(asked: number): Promise<ConsoleState | string> {
  try {
    const response = await fetch(`dashboard.json?minutes=${asked}`, {
      signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
    });
    return response.ok ? ((await response.json()) as ConsoleState) : `answers with ${response.status}`;
  } catch {
    return 'has not answered';
  }
}

function show(state: ConsoleState): void {
  [lastAnswer, silentSince] = [Date.now(), undefined];
  setText(byId('connection'), '');
  document.body.classList.remove('stale');
  const ringing = state.alarms.filter((alarm) => alarm.ringing).length;
  document.title = ringing > 0 ? `(${ringing}) ${state.title}` : state.title;
  setText(byId('title'), state.title);
  setText(byId('updated'), `Updated ${time(state.at)}`);
  showAlarms(state.alarms);
  showParts(state.parts, askNow);
  document.querySelector('main')!.hidden = false;
  showRows(state, spanOf(minutes));
}

function showSilence(how: string): void {
  silentSince ??= Date.now();
  document.body.classList.add('stale');
  const shown = lastAnswer === undefined ? '' : ` What is shown is from ${time(lastAnswer)}.`;
  setText(
    byId('connection'),
    `The system ${how} since ${time(silentSince)}.${shown} It is asked again every 2 seconds.`,
  );
}

/** As in "in the last …". */
function spanOf(some: number): string {
  return some === 60 ? 'hour' : `${some} minutes`;
}

/** The nearest that can be shown. */
function chosen(wanted: number): number {
  return ranges.find((range) => range === wanted) ?? ranges[0]!;
}

function choose(wanted: number): void {
  minutes = wanted;
  for (const each of buttons) each.button.ariaPressed = String(each.minutes === minutes);
  // The address says it, so that it outlasts a reload.
  history.replaceState(null, '', `?minutes=${minutes}`);
  askNow();
}

for (const each of buttons) each.button.addEventListener('click', () => choose(each.minutes));
byId('ranges').append(...buttons.map(({ button }) => button));
choose(minutes);
