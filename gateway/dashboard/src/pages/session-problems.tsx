import type { ComponentChild } from 'preact';
import type { Kept } from '../../../src/dashboard/rows.js';
import { useLoad } from '../api.js';
import { clock, count } from '../format.js';
import { noticeWord, refusedWords } from '../problems.js';
import { Badge, Panel } from '../ui.js';

const REFRESH_MS = 5000;

/** Problems of data, a list item each, and the refused frames; nothing if there are none. */
export function ProblemPanel(props: {
  readonly refused: NonNullable<Kept>['refused'];
  readonly children: readonly ComponentChild[];
}) {
  if (props.children.length + props.refused.length === 0) return null;
  return (
    <Panel title="Problems">
      <ul class="notices">
        {props.children}
        {props.refused.map(({ code, count: n, detail }) => (
          <li key={code}>
            <Badge tone="bad">{`${count(n)} refused`}</Badge> {refusedWords(code)}
            <span class="mute"> (latest: {detail})</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** The problems of a session's data, which are kept with it. */
export function Problems({ id }: { readonly id: string }) {
  const { data } = useLoad<Kept>(`/sessions/${id}/diagnostics`, REFRESH_MS);
  return (
    <ProblemPanel refused={data?.refused ?? []}>
      {(data?.notices ?? []).map(({ code, channel, insight, reason, count: n, firstAt, lastAt, detail, isOver }) => (
        <li key={`${code}${channel}${insight}`}>
          <Badge tone={isOver ? 'mute' : 'warn'}>{noticeWord({ code, ...(reason && { reason }) })}</Badge> {detail}
          <span class="mute">
            {` (${n > 1 ? `${count(n)} times, ` : ''}${clock(firstAt)}${n > 1 ? ` to ${clock(lastAt)}` : ''}${isOver ? ', over' : ''})`}
          </span>
        </li>
      ))}
    </ProblemPanel>
  );
}
