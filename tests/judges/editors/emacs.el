;;; emacs.el --- An ACP client in Emacs, with its processes and its JSON -*- lexical-binding: t -*-

;;; Commentary:
;; Prints one line of JSON: what came of it.
;;   emacs -Q --batch -l emacs.el
;; AGENT is the program, WORK its directory, DAEMON the file with the pid that is to be killed.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst editor-patience 20 "Seconds to wait for anything.")
(defvar editor-agent nil "The agent's process.")
(defvar editor-rest "" "The beginning of a line.")
(defvar editor-last-id 0)
(defvar editor-answers (make-hash-table))
(defvar editor-questions nil "Open ones: their ids and options.")
(defvar editor-withdrawn 0)
(defvar editor-text "" "All that the agent has said.")

(defun editor-send (&rest message)
  "Send MESSAGE, a property list."
  (process-send-string editor-agent (concat (json-serialize `(:jsonrpc "2.0" ,@message)) "\n")))

(defun editor-take (message)
  "Take MESSAGE, a property list."
  (let ((params (plist-get message :params)) (id (plist-get message :id)))
    (pcase (plist-get message :method)
      ("session/update"
       (let ((update (plist-get params :update)))
         (when (equal (plist-get update :sessionUpdate) "agent_message_chunk")
           (setq editor-text (concat editor-text (plist-get (plist-get update :content) :text))))))
      ("session/request_permission"
       (push (cons id (plist-get params :options)) editor-questions))
      ("$/cancel_request"
       (let ((gone (plist-get params :requestId)))
         (cl-incf editor-withdrawn)
         (setq editor-questions (assoc-delete-all gone editor-questions))
         (editor-send :id gone :error '(:code -32800 :message "withdrawn"))))
      ('nil (puthash id message editor-answers)))))

(defun editor-hear (_ piece)
  "Take the whole lines of PIECE."
  (let ((lines (split-string (concat editor-rest piece) "\n")))
    (setq editor-rest (car (last lines)))
    (dolist (line (butlast lines))
      (editor-take (json-parse-string line :object-type 'plist :array-type 'list :null-object nil)))))

(defmacro editor-wait (what &rest condition)
  "Wait until CONDITION holds; WHAT is waited for."
  `(let ((end (+ (float-time) editor-patience)))
     (while (not (progn ,@condition))
       (when (> (float-time) end) (error "In vain: %s" ,what))
       (accept-process-output nil 0.01))))

(defun editor-request (method &rest params)
  "Send a request of METHOD with PARAMS; its id."
  (cl-incf editor-last-id)
  (editor-send :id editor-last-id :method method :params params)
  editor-last-id)

(defun editor-answer (id)
  "The result of the request ID."
  (editor-wait (format "an answer to %s" id) (gethash id editor-answers))
  (let ((answer (gethash id editor-answers)))
    (when (plist-get answer :error) (error "%S" (plist-get answer :error)))
    (plist-get answer :result)))

(defun editor-allow ()
  "Answer the open question with yes, once."
  (editor-wait "a question" editor-questions)
  (let* ((question (pop editor-questions))
         (yes (cl-find "allow_once" (cdr question) :test #'equal :key (lambda (one) (plist-get one :kind)))))
    (editor-send :id (car question)
                 :result `(:outcome (:outcome "selected" :optionId ,(plist-get yes :optionId))))))

(defun editor-drive ()
  "Drive a session; the report."
  (let* ((work (file-name-as-directory (getenv "WORK")))
         (default-directory work)
         (said nil) (session nil) (answered nil) (cancelled nil) (outlived nil))
    (setq editor-agent (make-process :name "agent" :command (list (getenv "AGENT")) :connection-type 'pipe
                                     :coding 'utf-8-unix :noquery t :filter #'editor-hear :stderr (get-buffer-create "*errors*")))
    (setq said (editor-answer (editor-request
                               "initialize" :protocolVersion 1
                               :clientCapabilities '(:fs (:readTextFile t :writeTextFile t))
                               :clientInfo `(:name "emacs" :version ,emacs-version))))
    (setq session (plist-get (editor-answer (editor-request "session/new" :cwd (directory-file-name work) :mcpServers []))
                             :sessionId))
    (cl-flet ((prompt (words)
                (editor-request "session/prompt" :sessionId session :prompt `[(:type "text" :text ,words)])))
      (let ((asking (prompt "call shell [\"touch\",\"one\"]; then; say one is there")))
        (editor-allow)
        (setq answered (plist-get (editor-answer asking) :stopReason)))
      (let ((endless (prompt "say before the silence; stall forever")))
        (editor-wait "words" (string-match-p "before the silence" editor-text))
        (editor-send :method "session/cancel" :params `(:sessionId ,session))
        (setq cancelled (plist-get (editor-answer endless) :stopReason)))
      (let ((outliving (prompt "call shell [\"touch\",\"two\"]; then; say two is there")))
        (editor-wait "a question" editor-questions)
        (signal-process (with-temp-buffer (insert-file-contents (getenv "DAEMON")) (string-to-number (buffer-string))) 9)
        (editor-wait "the question to be withdrawn" (= editor-withdrawn 1))
        (editor-allow)
        (setq outlived (plist-get (editor-answer outliving) :stopReason))))
    (process-send-eof editor-agent)
    (editor-wait "the agent's end" (not (process-live-p editor-agent)))
    (list :version (plist-get said :protocolVersion) :answered answered :cancelled cancelled :outlived outlived
          :withdrawn editor-withdrawn :text editor-text :code (process-exit-status editor-agent))))

(princ (concat (json-serialize (condition-case problem (editor-drive)
                                 (error (list :failed (error-message-string problem)))))
               "\n"))

;;; emacs.el ends here
