/** The variables of the environment, apart from those of limits (`settings`). Each is read by its name here. */
export const VARIABLES = {
  auditLog: 'DRILLPROOF_AUDIT_LOG',
  debug: 'DRILLPROOF_DEBUG',
  modelTiers: 'DRILLPROOF_MODEL_TIERS',
  oidc: 'DRILLPROOF_OIDC',
  token: 'DRILLPROOF_TOKEN',
} as const;
