import { Controller, Get, Inject, NotFoundException, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Explanation } from '../../insight/explain/index.js';
import { AdminPorts } from './admin-ports.js';
import { AnsweredByOwner } from './answered-by-owner.js';
import { isOfOneReplica, passOf } from './caller-pass.js';
import { ExplainSource } from './explain-source.js';
import { deploymentCaches, findDeployment, isFilling, stillListing } from './find-deployment.js';
import { Shows } from './route-sight.js';
import { DEPLOYMENT_LIST, EXPLANATION } from './peer-answers.js';
import { SlotReplicas, warnOfMissing } from './slot-replicas.js';

/** A Deployment in one sentence and some numbers. */
export interface DeploymentGlance extends Pick<
  Explanation,
  'namespace' | 'name' | 'state' | 'cause' | 'sentence' | 'counts'
> {
  readonly apiVersion: string;
  /** How many pods it asks for. */
  readonly wanted: number;
}

/** Explains the state of rollouts. */
@Controller('admin')
@Shows('namespace')
export class ExplainController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ExplainSource) private readonly source: ExplainSource,
    @Inject(SlotReplicas) private readonly replicas: SlotReplicas,
  ) {}

  @Get('explain/deployments/:namespace/:name')
  @AnsweredByOwner(EXPLANATION)
  async explain(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query('api') api: unknown,
  ): Promise<Explanation> {
    const { caches, key } = findDeployment(this.ports, { namespace, name, api });
    const explanation = await this.source.explain(caches, key);
    if (!explanation) throw new NotFoundException({ error: `no Deployment ${key}` });
    return explanation;
  }

  /** All of them; with slots, those of the slots that other replicas own as these tell them. */
  @Get('deployments')
  @Shows('keys')
  async deployments(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<readonly DeploymentGlance[]> {
    const own = this.ownDeployments();
    if (!this.ports.slots?.() || isOfOneReplica(request)) return own;
    const asked = await this.replicas.askAll<readonly DeploymentGlance[]>(
      '/admin/deployments',
      DEPLOYMENT_LIST,
      passOf(request, response),
    );
    warnOfMissing(response, asked);
    return [...own, ...asked.answers.flatMap(({ answer }) => answer)];
  }

  private ownDeployments(): readonly DeploymentGlance[] {
    const known = deploymentCaches(this.ports);
    const slots = this.ports.slots?.();
    // While a slot is on its way to this replica, another one lists its Deployments.
    if (!slots && known.some(isFilling)) throw stillListing();
    return known.flatMap((caches) =>
      caches.deployments.lister
        .list()
        .filter(({ metadata }) => slots?.owns(metadata.namespace) ?? true)
        .map((deployment) => {
          const { apiVersion } = caches;
          const { cause, counts, name, namespace, sentence, state } = this.source.glance(caches, deployment);
          const wanted = deployment.spec.replicas ?? 1;
          return { apiVersion, namespace, name, state, cause, sentence, wanted, counts };
        }),
    );
  }
}
