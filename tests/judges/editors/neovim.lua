-- An ACP client in Neovim, with its jobs and its JSON as plugins use them. Prints one line of JSON: what came of it.
--   nvim --headless -u NONE -c 'luafile neovim.lua'
-- AGENT is the program, WORK its directory, DAEMON the file with the pid that is to be killed.

local PATIENCE_MS = 20000
local agent, rest, last_id = nil, "", 0
local answers, questions, withdrawn, text = {}, {}, 0, ""

local function send(message)
  message.jsonrpc = "2.0"
  vim.fn.chansend(agent, vim.json.encode(message) .. "\n\n") -- avante.nvim ends its lines twice
end

local function take(message)
  local params = message.params or {}
  if message.method == "session/update" then
    local update = params.update
    if update.sessionUpdate == "agent_message_chunk" then text = text .. update.content.text end
  elseif message.method == "session/request_permission" then
    table.insert(questions, { id = message.id, options = params.options })
  elseif message.method == "$/cancel_request" then
    withdrawn = withdrawn + 1
    questions = vim.tbl_filter(function(one) return one.id ~= params.requestId end, questions)
    send({ id = params.requestId, error = { code = -32800, message = "withdrawn" } })
  elseif message.id and not message.method then
    answers[message.id] = message
  end
end

local function heard(_, pieces)
  pieces[1] = rest .. pieces[1]
  rest = table.remove(pieces) -- the last one is the beginning of a line
  for _, line in ipairs(pieces) do take(vim.json.decode(line)) end
end

local function wait(what, condition)
  if not vim.wait(PATIENCE_MS, condition, 5) then error("in vain: " .. what) end
end

local function request(method, params)
  last_id = last_id + 1
  send({ id = last_id, method = method, params = params })
  return last_id
end

local function answer(id)
  wait("an answer to request " .. id, function() return answers[id] end)
  if answers[id].error then error(vim.json.encode(answers[id].error)) end
  return answers[id].result
end

local function allow()
  wait("a question", function() return #questions == 1 end)
  local question = table.remove(questions)
  for _, option in ipairs(question.options) do
    if option.kind == "allow_once" then
      return send({ id = question.id, result = { outcome = { outcome = "selected", optionId = option.optionId } } })
    end
  end
  error("nothing can be allowed once")
end

local function drive()
  agent = vim.fn.jobstart({ vim.env.AGENT }, { cwd = vim.env.WORK, on_stdout = heard })
  local said = answer(request("initialize", {
    protocolVersion = 1,
    clientCapabilities = { fs = { readTextFile = true, writeTextFile = true } },
    clientInfo = { name = "neovim", version = tostring(vim.version()) },
  }))
  local session = answer(request("session/new", { cwd = vim.env.WORK, mcpServers = {} })).sessionId
  local function prompt(words)
    return request("session/prompt", { sessionId = session, prompt = { { type = "text", text = words } } })
  end

  local asking = prompt('call shell ["touch","one"]; then; say one is there')
  allow()
  local answered = answer(asking).stopReason

  local endless = prompt("say before the silence; stall forever")
  wait("words", function() return text:find("before the silence") end)
  send({ method = "session/cancel", params = { sessionId = session } })
  local cancelled = answer(endless).stopReason

  local outliving = prompt('call shell ["touch","two"]; then; say two is there')
  wait("a question", function() return #questions == 1 end)
  vim.loop.kill(tonumber(vim.fn.readfile(vim.env.DAEMON)[1]), 9)
  wait("the question to be withdrawn", function() return withdrawn == 1 end)
  allow()
  local outlived = answer(outliving).stopReason
  vim.fn.chanclose(agent, "stdin")
  local code = vim.fn.jobwait({ agent }, PATIENCE_MS)[1]
  return {
    version = said.protocolVersion, answered = answered, cancelled = cancelled, outlived = outlived,
    withdrawn = withdrawn, text = text, code = code,
  }
end

local well, report = pcall(drive)
io.stdout:write(vim.json.encode(well and report or { failed = report }) .. "\n")
vim.cmd("qa!")
