import { ConfigurableModuleBuilder, Global, Module } from '@nestjs/common';
import type { CompiledReplicaOptions } from './replica.options.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<CompiledReplicaOptions>({ moduleName: 'ReplicaOptions' })
    .setClassMethodName('forRoot')
    .build();

/** Injects the {@link CompiledReplicaOptions}, which have a type and no class. */
export const REPLICA_OPTIONS = MODULE_OPTIONS_TOKEN;

/** The options of the replica, for all its parts. */
@Global()
@Module({ exports: [REPLICA_OPTIONS] })
export class ReplicaOptionsModule extends ConfigurableModuleClass {}
