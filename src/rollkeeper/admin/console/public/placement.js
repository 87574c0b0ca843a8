// Why each node does not take a pod.
import { html, nothing } from '/console/lit-html.js';
import { call } from '/console/feed.js';

const NODES_SHOWN = 50;

/** Why each node does not take a pod. */
export function placementDialog({ placed }, actions) {
  if (!placed) return nothing;
  const { key, placement, problem } = placed;
  const close = () => actions.closePlacement();
  return html`<div class="veil" @click=${(event) => event.target === event.currentTarget && close()}>
    <section
      class="dialog placement"
      role="dialog"
      aria-modal="true"
      aria-labelledby="placement-title"
      @keydown=${(event) => actions.dialogKeys(event, close)}
    >
      <h2 id="placement-title">Where could ${key} run?</h2>
      ${problem ? html`<p class="error" role="alert">${problem}</p>` : nothing}
      ${placement ? placementBody(placement) : problem ? nothing : html`<p class="quiet">Evaluating the scheduler's rules …</p>`}
      <div class="buttons"><button id="close-placement" @click=${close}>Close</button></div>
    </section>
  </div>`;
}

function placementBody({ message, nodes, notes, obstacles, preemption, summary }) {
  return html`<p>${summary}</p>
    ${message ? html`<p class="quiet">${message}</p>` : nothing}
    ${
      obstacles.length > 0
        ? html`<ul class="ways">
            ${obstacles.map(obstacleItem)}
          </ul>`
        : nothing
    }
    <div class="nodes" tabindex="0" role="region" aria-label="Nodes">
      <table>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Plug-in</th>
            <th scope="col">Why not</th>
            <th scope="col">What would help</th>
          </tr>
        </thead>
        <tbody>
          ${nodes.slice(0, NODES_SHOWN).flatMap(({ node, obstacles: of }) =>
            of.length === 0
              ? [
                  html`<tr>
                    <th scope="row">${node}</th>
                    <td colspan="3">fits</td>
                  </tr>`,
                ]
              : of.map(
                  ({ plugin, reasons, remedy }, index) =>
                    html`<tr>
                      <th scope="row">${index === 0 ? node : ''}</th>
                      <td><code>${plugin}</code></td>
                      <td>${reasons.join(', ')}</td>
                      <td>${remedy ?? ''}</td>
                    </tr>`,
                ),
          )}
        </tbody>
      </table>
    </div>
    ${nodes.length > NODES_SHOWN ? html`<p class="quiet">and ${nodes.length - NODES_SHOWN} more nodes</p>` : nothing}
    ${
      preemption
        ? html`<p>
            To make room on <b>${preemption.node}</b>, ${preemption.victims.join(', ')} would be preempted.
          </p>`
        : nothing
    }
    ${notes.map((note) => html`<p class="quiet">${note}</p>`)}`;
}

function obstacleItem({ plugin, reasons, remedy }) {
  return html`<li><code>${plugin}</code> ${reasons.join(', ')}${remedy ? ` – ${remedy}` : ''}</li>`;
}

/** @param page see `page` in console.js */
export function placementActions({ close, focusSoon, open, set, state }) {
  return {
    closePlacement() {
      close({ placed: undefined, ask: undefined });
    },
    async showPlacement(namespace, name) {
      const key = `${namespace}/${name}`;
      open({ placed: { key }, ask: `placement:pods/${key}` });
      focusSoon('#close-placement');
      const answer = await call('GET', `/admin/explain/pods/${key}`).catch((error) => ({
        failed: error.message,
      }));
      if (state.placed?.key !== key) return;
      const { failed, placement, sentence } = answer;
      set({ placed: { key, placement, problem: failed ?? (placement ? '' : sentence) } });
    },
  };
}
