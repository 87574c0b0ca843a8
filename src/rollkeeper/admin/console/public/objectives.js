// The objectives: how soon changes are answered and rollouts are done, and how much of the budget is burnt.
import { html, svg } from '/console/lit-html.js';
import { call } from '/console/feed.js';
import { clockTime, empty } from '/console/parts.js';

const WINDOWS = { '5m': '5 minutes', '1h': '1 hour', '24h': '24 hours' };
const CHART = { width: 600, height: 120 };

export function objectivesView({ objectives, notices }, actions) {
  if (!objectives) return empty('Reading …', '');
  if (objectives.problem) return empty('Not shown', objectives.problem);
  return html`<section class="page" aria-label="Objectives">
    <h2 class="unseen">Objectives</h2>
    ${objectives.reports.map(report)}
    <h3 class="title">Notices</h3>
    <p>
      <button
        class="plain"
        id="notices"
        aria-pressed=${notices === 'on'}
        ?disabled=${notices === 'refused'}
        @click=${() => actions.toggleNotices()}
      >
        ${notices === 'on' ? 'Turn off notifications' : 'Notify me when a rollout gets stuck'}
      </button>
      <span class="quiet">${noticeWords(notices)}</span>
    </p>
  </section>`;
}

function noticeWords(notices) {
  if (notices === 'on') return 'This browser notifies you while a page of the console is open.';
  if (notices === 'refused') return 'This browser blocks notifications for this page.';
  return 'This browser asks for permission first.';
}

function report({ objective, recent, title, windows }) {
  const day = windows.at(-1);
  return html`<article class="objective">
    <h3>${title.charAt(0).toUpperCase()}${title.slice(1)}</h3>
    <p class="quiet">
      Objective: half within ${seconds(objective.p50)}, and 99 of 100 within ${seconds(objective.p99)}. One in
      a hundred may take longer: that is the budget.
    </p>
    ${
      day.count === 0
        ? html`<p>No rollout was measured in the last 24 hours, or since the replicas started.</p>`
        : html`${budget(day)} ${chart(recent, objective.p99)}
            <table>
              <caption class="unseen">
                ${title}
              </caption>
              <thead>
                <tr>
                  <th scope="col">Period</th>
                  <th scope="col">Measured</th>
                  <th scope="col">Half within</th>
                  <th scope="col">99 of 100 within</th>
                  <th scope="col">Over ${seconds(objective.p99)}</th>
                  <th scope="col">Budget used</th>
                </tr>
              </thead>
              <tbody>
                ${windows.map((each) => row(each, objective))}
              </tbody>
            </table>`
    }
  </article>`;
}

function row({ burnt, count, over, p50, p99, window }, objective) {
  const cell = (value, limit) =>
    value === undefined
      ? html`<td>–</td>`
      : html`<td class=${value > limit ? 'bad' : ''}>${seconds(value)}</td>`;
  return html`<tr>
    <th scope="row">${WINDOWS[window] ?? window}</th>
    <td>${count}</td>
    ${cell(p50, objective.p50)} ${cell(p99, objective.p99)}
    <td class=${over > 0 ? 'bad' : ''}>${over}</td>
    <td class=${burnt > 1 ? 'bad' : ''}>${count === 0 ? '–' : percent(burnt)}</td>
  </tr>`;
}

function budget({ burnt }) {
  const said = `${percent(burnt)} of the 24-hour budget is used`;
  return html`<p class="budget ${burnt > 1 ? 'over' : ''}">
    <span class="budget-bar" role="img" aria-label=${said}
      ><b .style=${`width:${Math.min(100, burnt * 100)}%`}></b
    ></span>
    <span>${said}</span>
  </p>`;
}

/** Each measurement as a point, against the objective. */
function chart(recent, limit) {
  const startMs = recent[0][0];
  const spanMs = Math.max(1, recent.at(-1)[0] - startMs);
  const most = Math.max(limit * 1.2, ...recent.map(([, value]) => value));
  const x = (ms) => 6 + ((CHART.width - 12) * (ms - startMs)) / spanMs;
  const y = (value) => CHART.height - 6 - (value / most) * (CHART.height - 12);
  return html`<figure class="objective-chart">
    <svg
      viewBox="0 0 ${CHART.width} ${CHART.height}"
      role="img"
      aria-label="The last ${recent.length} measurements against the objective of ${seconds(limit)}"
    >
      <line class="limit-line" x1="0" x2=${CHART.width} y1=${y(limit)} y2=${y(limit)}></line>
      ${recent.map(
        ([ms, value]) =>
          svg`<circle class=${value > limit ? 'over' : ''} cx=${x(ms)} cy=${y(value)} r="3"><title>${clockTime(ms)}: ${seconds(value)}</title></circle>`,
      )}
    </svg>
    <figcaption><span>${clockTime(startMs)}</span><span>${clockTime(recent.at(-1)[0])}</span></figcaption>
  </figure>`;
}

function seconds(value) {
  return value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(value < 10 ? 1 : 0)} s`;
}

function percent(part) {
  return `${part > 0 && part < 0.1 ? (part * 100).toFixed(1) : Math.round(part * 100)} %`;
}

/** @param page see `page` in console.js */
export function objectivesActions({ set, state }) {
  return {
    async readObjectives() {
      if (state.tab !== 'objectives' || document.hidden) return;
      try {
        set({ objectives: { reports: await call('GET', '/admin/objectives') } });
      } catch (error) {
        if (error.status) set({ objectives: { problem: error.message } });
      }
    },
  };
}
