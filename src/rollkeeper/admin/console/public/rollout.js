// How a rollout looks after itself: its steps, its history, and what a person can say to it.
import { html, nothing, svg } from '/console/lit-html.js';
import { call } from '/console/feed.js';
import { ago, nameOf } from '/console/parts.js';

const WORDS = {
  promote: {
    button: 'Approve',
    title: 'Approve this step',
    does: 'The rollout continues with its next step.',
  },
  abort: {
    button: 'Abort',
    title: 'Abort the rollout',
    does: 'It rolls back to the last good revision. This version is not retried until a user requests it.',
  },
  retry: {
    button: 'Retry',
    title: 'Try again',
    does: 'What failed is tried again: the version, or the check that holds it.',
  },
  undo: { button: 'Roll back', title: 'Roll back', does: 'The pods are replaced by those of this revision.' },
};

/** The requests that a rollout accepts now. Approving comes first, because the rollout waits for it. */
export function offers(item, view, why, actions) {
  if (!view) return nothing;
  const waits = why?.waitsFor.map(({ cause }) => cause) ?? [];
  const isMoving = item.state === 'progressing' || item.state === 'blocked';
  const verbs = [
    ...(waits.includes('waits-for-approval') || waits.includes('check-failed') ? ['promote'] : []),
    ...(isMoving ? ['abort'] : []),
    ...(view.canRetry ? ['retry'] : []),
  ];
  if (verbs.length === 0) return nothing;
  return html`<span class="offers" role="group" aria-label="Rollout">
    ${verbs.map(
      (verb) =>
        html`<button
          class=${verb === 'promote' ? 'primary' : 'plain'}
          id=${`ask-${verb}`}
          @click=${() => actions.askAbout({ verb, item })}
        >
          ${WORDS[verb].button}
        </button>`,
    )}
  </span>`;
}

/** The steps as a track. */
export function track(view) {
  if (!view?.track) return nothing;
  return html`<div class="rollout-track">
    <ol class="steps" aria-label="Steps of the rollout">
      ${view.track.steps.map(
        ({ approvedBy, state, step }) =>
          html`<li class=${state} aria-current=${state === 'current' ? 'step' : nothing}>
            <span class="knot" aria-hidden="true"></span>
            <span class="step">${step}</span>
            ${approvedBy ? html`<small>${approvedBy}</small>` : nothing}
          </li>`,
      )}
    </ol>
  </div>`;
}

const CHART = { width: 132, height: 34 };

/** The checks of the newest revision, each with its last values as a small chart. */
export function checks(view) {
  const current = view?.history.find(({ isCurrent }) => isCurrent);
  if (!current || current.checks.length === 0) return nothing;
  return html`<h3 class="title">Checks</h3>
    <ul class="checks">
      ${current.checks.map(
        ({ check, measurements, state, step, why }) =>
          html`<li class=${state}>
            <div>
              <b>${check}</b>
              <span class="quiet">${step === undefined ? 'all the way' : `step ${step}`} · ${state}</span>
              ${why ? html`<p class=${state === 'failed' ? 'error' : 'quiet'}>${why}</p>` : nothing}
            </div>
            ${chart(check, measurements)}
          </li>`,
      )}
    </ul>`;
}

/** A line of the values, with a point for each measurement in the colour of its verdict. */
function chart(check, measurements) {
  if (measurements.length === 0) return nothing;
  const values = measurements.map(({ value }) => value ?? 0);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (index) => 6 + (index * (CHART.width - 12)) / Math.max(1, values.length - 1);
  const y = (value) => CHART.height - 7 - ((value - low) / (high - low || 1)) * (CHART.height - 14);
  const last = measurements.at(-1);
  const said = `${check}: ${measurements.length} measurements, the last ${last.verdict}${last.value === undefined ? '' : `, ${last.value}`}`;
  return html`<figure>
    <svg
      role="img"
      aria-label=${said}
      viewBox="0 0 ${CHART.width} ${CHART.height}"
      width=${CHART.width}
      height=${CHART.height}
    >
      <polyline points=${values.map((value, index) => `${x(index)},${y(value)}`).join(' ')} />
      ${measurements.map(
        ({ at, verdict }, index) =>
          svg`<circle class=${verdict} cx=${x(index)} cy=${y(values[index])} r="3.5"><title>${at} ${verdict} ${measurements[index].value ?? ''}</title></circle>`,
      )}
    </svg>
    ${last.value === undefined ? nothing : html`<figcaption>${shortNumber(last.value)}</figcaption>`}
  </figure>`;
}

function shortNumber(value) {
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

/** The revisions, newest first. */
export function revisions(item, view, nowMs, actions) {
  if (!view || view.history.length === 0) return nothing;
  return html`<h3 class="title">Revisions</h3>
    <ol class="revisions">
      ${view.history.slice(0, 12).map(
        (revision) =>
          html`<li class=${revision.result}>
            <p>
              <b>${revision.revision}</b>
              <span class="result"
                >${revision.isCurrent ? `${revision.result}, current` : revision.result}</span
              >
              <span class="quiet">${heading(revision, nowMs)}</span>
              ${
                revision.isCurrent || revision.nowRevision !== undefined
                  ? nothing
                  : html`<button
                      class="plain"
                      aria-label="Roll back to revision ${revision.revision}"
                      @click=${() => actions.askAbout({ verb: 'undo', item, revision: revision.revision })}
                    >
                      Roll back
                    </button>`
              }
            </p>
            ${revision.what ? html`<p class="what">${revision.what}</p>` : html`<p class="what">${revision.images.join(', ')}</p>`}
            ${revision.why ? html`<p class="quiet">${revision.why}</p>` : nothing}
            ${revision.cause && revision.cause !== revision.why ? html`<p class="error">${revision.cause}</p>` : nothing}
          </li>`,
      )}
    </ol>`;
}

function heading({ nowRevision, startedAt, tool, tookMs, trigger, who: asked }, nowMs) {
  const who = asked ?? tool;
  return [
    trigger,
    who ? (who.startsWith('claimed by ') ? who : `by ${who}`) : undefined,
    startedAt ? `${ago(Date.parse(startedAt), nowMs)} ago` : undefined,
    tookMs === undefined ? undefined : `took ${Math.max(1, Math.round(tookMs / 1000))} s`,
    nowRevision === undefined ? undefined : `now revision ${nowRevision}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Asks once more, and who asks; for a rollback it shows what would change. */
export function rolloutDialog({ asked, caller }, actions) {
  if (!asked) return nothing;
  const { changes, item, problem, revision, verb } = asked;
  const { button, does, title } = WORDS[verb];
  const [namespace, name] = nameOf(item);
  return html`<div class="veil">
    <section
      class="dialog"
      role="dialog"
      aria-modal="true"
      aria-labelledby="ask-title"
      @keydown=${(event) => actions.dialogKeys(event, () => actions.askAbout(undefined))}
    >
      <form
        @submit=${(event) => {
          event.preventDefault();
          const form = new FormData(event.target);
          void actions.sayToRollout({ by: form.get('by'), reason: form.get('reason') });
        }}
      >
        <h2 id="ask-title">${title}${revision === undefined ? '' : ` to revision ${revision}`}</h2>
        <p><b>${namespace}/${name}</b>: ${does}</p>
        ${verb === 'undo' ? changeList(changes) : nothing}
        ${
          caller
            ? html`<p class="quiet">As ${caller}, with your own rights.</p>`
            : html`<label
                >Your name
                <input
                  name="by"
                  maxlength="100"
                  required
                  autocomplete="name"
                  .value=${actions.personName()}
                  autofocus
              /></label>`
        }
        ${verb === 'undo' ? html`<label>Reason <input name="reason" maxlength="300" autocomplete="off" /></label>` : nothing}
        ${problem ? html`<p class="error" role="alert">${problem}</p>` : nothing}
        <div class="buttons">
          <button type="submit">${button}</button>
          <button type="button" class="plain" @click=${() => actions.askAbout(undefined)}>Cancel</button>
        </div>
      </form>
    </section>
  </div>`;
}

/** The differences between two templates, as a person reads them; undefined: not known yet. */
export function changeList(changes) {
  if (changes === undefined) return html`<p class="quiet">Reading what would change …</p>`;
  return html`<ul class="changes">
    ${changes.map(
      ({ field, from, to }) =>
        html`<li>
          <span>${field}</span>
          ${from === undefined ? html`<ins>added</ins>` : from === '…' ? nothing : html`<del>${from}</del>`}
          ${to === undefined ? html`<span class="gone">removed</span>` : to === '…' ? html`<ins>changed</ins>` : html`<ins>${to}</ins>`}
        </li>`,
    )}
    ${changes.length === 0 ? html`<li>No differences.</li>` : nothing}
  </ul>`;
}

/** @param page see `page` in console.js */
export function rolloutActions({ announce, close, focusSoon, open, refresh, set, state, withToken }) {
  const showChanges = async (asked) => {
    const [path, query = ''] = asked.item.key.split('?');
    const search = new URLSearchParams(query);
    search.set('revision', asked.revision);
    try {
      const { changes } = await call('GET', `/admin/rollouts/${path}/changes?${search}`);
      if (state.asked === asked) set({ asked: { ...asked, changes } });
    } catch (error) {
      if (state.asked === asked) set({ asked: { ...asked, changes: [], problem: error.message } });
    }
  };

  const sayToRollout = async ({ by, reason }) => {
    const { asked } = state;
    if (!asked) return;
    if (by) localStorage.setItem('rollkeeper-person', by);
    const [path, query = ''] = asked.item.key.split('?');
    // The cluster may know by the token whose name it carries.
    const named = by && !state.caller ? { by } : {};
    const body =
      asked.verb === 'undo' ? { ...named, reason: reason ?? '', revision: Number(asked.revision) } : named;
    try {
      await call('POST', `/admin/rollouts/${path}/${asked.verb}${query && `?${query}`}`, body);
      close({ asked: undefined, ask: undefined });
      announce(`${path}: ${asked.verb} done`);
      refresh();
    } catch (error) {
      if (error.status === 401) withToken(() => sayToRollout({ by, reason }));
      else set({ asked: { ...asked, problem: error.message } });
    }
  };

  return {
    sayToRollout,
    /** Opens the question, or closes it. */
    askAbout(asked) {
      if (!asked) return close({ asked: undefined, ask: undefined });
      const { item, revision, verb } = asked;
      open({ asked, ask: `${verb}:rollouts/${item.key}${revision === undefined ? '' : `@${revision}`}` });
      focusSoon('.dialog [autofocus], .dialog button');
      if (verb === 'undo') void showChanges(asked);
    },
  };
}
