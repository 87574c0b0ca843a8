// The queues: how much waits, and every parked key with its error and what can be done about it.
import { html, nothing } from '/console/lit-html.js';
import { ago, empty } from '/console/parts.js';

export function queuesView(state, actions) {
  if (!state.queues) return empty('Reading …', '');
  const parked = state.queues.flatMap(({ controller, parked: keys }) => keys.map((key) => ({ controller, ...key })));
  return html`<section class="page" aria-label="Queues">
    <table>
      <caption class="unseen">Keys by queue</caption>
      <thead>
        <tr><th scope="col">Queue</th><th scope="col">Waiting</th><th scope="col">Running</th><th scope="col">Delayed</th><th scope="col">Parked</th></tr>
      </thead>
      <tbody>
        ${state.queues.map(
          ({ controller, counts }) => html`<tr>
            <th scope="row">${controller}</th>
            <td>${counts.waiting}</td>
            <td>${counts.active}</td>
            <td>${counts.delayed}</td>
            <td class=${counts.parked > 0 ? 'bad' : ''}>${counts.parked}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    <h3 class="title">Parked keys</h3>
    ${parked.length === 0
      ? html`<p class="quiet">None. A key is parked when it failed too often; it waits for a change or for you.</p>`
      : html`<ul class="parked">
          ${parked.map(
            ({ controller, error, key, parkedAtMs, retries }) => html`<li>
              <div>
                <b>${key}</b> <span class="quiet">${controller} · ${retries} retries · ${ago(parkedAtMs, state.nowMs)} ago</span>
                <p class="error">${error}</p>
              </div>
              <div class="buttons">
                <button @click=${() => actions.onKey(controller, 'unpark', key)}>Try again</button>
                <button class="plain" @click=${() => actions.onKey(controller, 'purge', key)}>Forget</button>
              </div>
            </li>`,
          )}
        </ul>`}
    ${state.notice ? html`<p class="notice" role="alert">${state.notice}</p>` : nothing}
  </section>`;
}

/** Asked for when the server wants a token: for a change, or from another machine. */
export function tokenDialog(state, actions) {
  if (!state.asksToken) return nothing;
  return html`<div class="veil">
    <form
      class="dialog"
      role="dialog"
      aria-modal="true"
      aria-labelledby="token-title"
      @submit=${(event) => {
        event.preventDefault();
        actions.giveToken(new FormData(event.target).get('token'));
      }}
      @keydown=${(event) => event.key === 'Escape' && actions.giveToken(undefined)}
    >
      <h2 id="token-title">A token is needed</h2>
      <p>Changes need the admin token. <code>rollkeeper up</code> keeps it in the file <code>admin-token</code> of its data folder.</p>
      <label>Token <input name="token" type="password" autocomplete="off" required autofocus /></label>
      <div class="buttons">
        <button type="submit">Use it</button>
        <button type="button" class="plain" @click=${() => actions.giveToken(undefined)}>Cancel</button>
      </div>
    </form>
  </div>`;
}
