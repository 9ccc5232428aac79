-- Health of a StaticExport for Argo CD. Only a spec that is not satisfied yet is Progressing, never a scheduled export.
local status = obj.status or {}
local found = {}
for _, condition in ipairs(status.conditions or {}) do
  found[condition.type] = condition
end
local ready, stalled, reconciling = found.Ready, found.Stalled, found.Reconciling

local function health(name, condition, otherwise)
  return { status = name, message = condition and condition.message or otherwise }
end

if obj.spec and obj.spec.suspend then
  return health("Suspended", nil, "spec.suspend is true: exports and promotions are paused.")
end
if status.observedGeneration ~= obj.metadata.generation or not ready then
  return health("Progressing", nil, "The operator has not observed this generation.")
end
if stalled and stalled.status == "True" then
  return health("Degraded", stalled)
end
if reconciling and reconciling.status == "True" then
  return health("Progressing", reconciling)
end
if ready.status == "True" then
  return health("Healthy", ready)
end
return health("Degraded", ready)
